import { ConfigError, parseConfig } from "../config.ts";
import { createDeps } from "../create-deps.ts";
import { openDatabase } from "../db/open-database.ts";
import { ExportError } from "../export/export.ts";
import { createLog } from "../lib/log/log.ts";
import { StartError } from "../lib/start-error.ts";
import { parseArguments } from "./arguments.ts";
import { BOOKING_COMMANDS, IMPORT_BOOKINGS_COMMAND } from "./booking-commands.ts";
import { type Command, type Output, UsageError } from "./command.ts";
import { CONNECTION_COMMANDS } from "./connection-commands.ts";
import { DELIVERY_COMMANDS } from "./delivery-commands.ts";
import { DEMO_COMMANDS } from "./demo-commands.ts";
import { ENDPOINT_COMMANDS } from "./endpoint-commands.ts";
import { FUNNEL_COMMANDS } from "./funnel-commands.ts";
import { KEY_COMMANDS } from "./key-commands.ts";
import { DOCTOR_COMMAND, EXPORT_COMMAND, MIGRATE_COMMAND, RETENTION_COMMAND } from "./operation-commands.ts";
import { ORGANIZATION_COMMANDS } from "./organization-commands.ts";
import { USER_COMMANDS } from "./user-commands.ts";
import { WIDGET_COMMANDS } from "./widget-commands.ts";

const GROUPS: readonly (readonly [title: string, commands: readonly Command[]])[] = [
  ["Organizations and people", [...ORGANIZATION_COMMANDS, ...USER_COMMANDS]],
  ["Widgets", WIDGET_COMMANDS],
  ["Bookings", BOOKING_COMMANDS],
  ["API keys", KEY_COMMANDS],
  ["Webhooks", [...ENDPOINT_COMMANDS, ...DELIVERY_COMMANDS]],
  ["Scheduling systems", CONNECTION_COMMANDS],
  ["Data", [IMPORT_BOOKINGS_COMMAND, ...FUNNEL_COMMANDS, EXPORT_COMMAND, RETENTION_COMMAND, ...DEMO_COMMANDS]],
  ["Database and health", [MIGRATE_COMMAND, DOCTOR_COMMAND]],
];
const COMMANDS = GROUPS.flatMap(([, commands]) => commands);

type Terminal = {
  readonly environment: () => Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  readonly stdin: AsyncIterable<Buffer>;
};

/** Returns the exit code: 2 for bad input, 1 if the service is unavailable or has a bug. Output goes to standard output. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const words = args.filter((word) => word !== "--json");
  try {
    const output = await run(words, terminal);
    const isJson = words.length < args.length;
    terminal.stdout.write(`${isJson ? JSON.stringify(output.json) : output.text}\n`);
    return output.exitCode ?? 0;
  } catch (error) {
    if ([UsageError, StartError, ConfigError, ExportError].some((kind) => error instanceof kind))
      terminal.stderr.write(`${(error as Error).message}\n`);
    // Not re-thrown: Node would print the whole error, including any row values in it.
    else createLog("error", terminal.stderr).error("command.failed", { error });
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(words: string[], terminal: Terminal): Promise<Output> {
  if (words.length === 0 || words.includes("--help") || words[0] === "help")
    return help(words.filter((word) => word !== "help" && !word.startsWith("-")));
  const command = findCommand(words);
  const args = parseArguments(words.slice(command.name.split(" ").length), command);

  const config = parseConfig(terminal.environment());
  const tell = (line: string) => terminal.stderr.write(`${line}\n`);
  const log = createLog(config.logLevel === "info" ? "warn" : config.logLevel, terminal.stderr);
  const database = await openDatabase({ config, log, notice: tell, distributes: args.flag("distribute") });
  try {
    const deps = await createDeps({ config, database, log });
    return await command.run({
      ...deps,
      // No time limit: imports and rebuilds take long, and the operator can stop the command.
      db: deps.longRunningDb,
      args,
      applied: database.applied,
      tell,
      readInput: () => readFirstLine(terminal),
    });
  } finally {
    await database.close();
  }
}

async function readFirstLine({ stdin }: Pick<Terminal, "stdin">): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8").split(/\r?\n/)[0] ?? "";
}

function findCommand(words: string[]): Command {
  const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(" ").length).join(" "));
  if (command) return command;
  // Only what looks like a command is repeated, because the rest may be a misplaced key.
  const typed = words.slice(0, 2).filter((word) => /^[a-z-]{1,20}$/.test(word));
  throw new UsageError(`There is no command ${JSON.stringify(typed.join(" "))}. See --help for all commands.`);
}

/** For the words of one command or one group of commands ("endpoint"); for all of them if none matches. */
function help(words: readonly string[]): Output {
  const wanted = words.slice(0, 2).join(" ");
  const found = COMMANDS.filter(({ name }) => wanted !== "" && `${name} `.startsWith(`${wanted} `));
  const isWanted = (command: Command) => found.length === 0 || found.includes(command);
  const groups = GROUPS.flatMap(([title, commands]) => {
    const rows = commands.filter(isWanted).map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
    return rows.length === 0 ? [] : `${title}\n${rows.join("\n")}`;
  });
  return {
    text: `Usage: bookflow <command> [options] [--json]\nIn a checkout: npm run -s bookflow -- <command>\n\n${groups.join("\n\n")}\n\nFor one command or group: bookflow help endpoint`,
    json: COMMANDS.filter(isWanted).map(({ usage }) => usage),
  };
}
