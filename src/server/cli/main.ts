import { ConfigError, parseConfig, readEnvironment } from "../config.ts";
import { openDatabase } from "../db/open-database.ts";
import { systemClock } from "../lib/clock.ts";
import { createLog } from "../lib/log.ts";
import { createMetrics } from "../lib/metrics.ts";
import { systemRandom } from "../lib/random.ts";
import { StartError } from "../lib/start-error.ts";
import { parseArguments } from "./arguments.ts";
import type { Answer, Command } from "./command.ts";
import { DATA_COMMANDS } from "./data-commands.ts";
import { KEY_COMMANDS } from "./key-commands.ts";
import { ORGANIZATION_COMMANDS } from "./organization-commands.ts";
import { UsageError } from "./usage-error.ts";
import { WIDGET_COMMANDS } from "./widget-commands.ts";

// The operator's command line. The answer goes to standard output, everything else to standard error; bad input ends with 2,
// a service that cannot be had with 1.

const COMMANDS = [...ORGANIZATION_COMMANDS, ...WIDGET_COMMANDS, ...KEY_COMMANDS, ...DATA_COMMANDS];

const words = process.argv.slice(2).filter((word) => word !== "--json");
const isJson = words.length < process.argv.length - 2;

try {
  const answer = await run(words);
  process.stdout.write(`${isJson ? JSON.stringify(answer.json) : answer.text}\n`);
} catch (error) {
  if (!(error instanceof UsageError || error instanceof StartError || error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function run(words: string[]): Promise<Answer> {
  if (words.length === 0 || words.includes("--help") || words[0] === "help")
    return { text: help(), json: COMMANDS.map(({ usage }) => usage) };
  const command = findCommand(words);
  const args = parseArguments(words.slice(command.name.split(" ").length), command);

  const config = parseConfig(readEnvironment());
  const tell = (line: string) => process.stderr.write(`${line}\n`);
  const log = createLog(config.logLevel === "info" ? "warn" : config.logLevel, process.stderr);
  const database = await openDatabase({ config, log, notice: tell });
  try {
    const { db, applied } = database;
    const deps = { config, db, log, clock: systemClock, random: systemRandom, metrics: createMetrics() };
    return await command.run({ ...deps, args, applied, tell });
  } finally {
    await database.close();
  }
}

function findCommand(words: string[]): Command {
  const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(" ").length).join(" "));
  if (!command)
    throw new UsageError(`There is no command ${JSON.stringify(words.slice(0, 2).join(" "))}; --help lists them.`);
  return command;
}

function help(): string {
  const rows = COMMANDS.map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `npm run -s bookflow -- <command> [--json]\n\n${rows.join("\n")}`;
}
