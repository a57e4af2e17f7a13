import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../../lib/start-error.ts";
import type { FirstMessage } from "./control-channel.ts";
import { toStartError } from "./file-fault.ts";
import { dataFolderPaths } from "./folders.ts";
import { openLog } from "./log-file.ts";
import { plainEnvironment } from "./run-program.ts";
import type { SupervisorOptions } from "./supervisor.ts";

const LOG_LIMIT_BYTES = 1024 * 1024;
const FIRST_MESSAGE_LIMIT_MS = 20_000;

/** Starts a supervisor, which outlives this process if others use it too. "busy": another one holds the data folder. */
export async function launchSupervisor(options: SupervisorOptions): Promise<"listening" | "busy"> {
  const log = openSupervisorLog(options.dataDir);
  const child = spawn(process.execPath, [programPath, JSON.stringify(options)], {
    cwd: options.dataDir,
    detached: true,
    env: { ...plainEnvironment(), ...toCacheSetting() },
    stdio: ["ignore", "pipe", log],
    windowsHide: true,
  });
  closeSync(log);
  try {
    const word = await readFirstMessage(child, dataFolderPaths(options.dataDir).supervisorLog);
    if (word.kind === "failed") throw new StartError(word.sentence);
    return word.kind;
  } catch (error) {
    throw toStartError(error, options.dataDir);
  } finally {
    child.stdout?.destroy();
    child.unref();
  }
}

function readFirstMessage(child: ChildProcess, logPath: string): Promise<FirstMessage> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new StartError(`The database's supervisor ${why}; see ${logPath}.`));
    const timer = setTimeout(() => fail("does not respond"), FIRST_MESSAGE_LIMIT_MS);
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.endsWith("\n")) resolve(JSON.parse(output) as FirstMessage);
    });
    child.stdout?.once("close", () => {
      clearTimeout(timer);
      fail("exited immediately");
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

const programPath = fileURLToPath(new URL("supervisor.ts", import.meta.url));

/**
 * Saves the supervisor from loading the TypeScript compiler: 18 MB and 60 ms. Not in the data folder, since this code is run,
 * and only for the owner of node_modules, who must be able to delete it.
 */
function toCacheSetting(): Record<string, string> {
  const modules = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
  const isOurs = statSync(modules, { throwIfNoEntry: false })?.uid === process.getuid?.();
  return isOurs ? { NODE_COMPILE_CACHE: join(modules, ".cache", "bookflow") } : {};
}

function openSupervisorLog(dataDir: string): number {
  try {
    return openLog(dataFolderPaths(dataDir).supervisorLog, LOG_LIMIT_BYTES);
  } catch (error) {
    throw toStartError(error, dataDir);
  }
}
