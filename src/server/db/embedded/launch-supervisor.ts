import { spawn } from "node:child_process";
import { closeSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../../lib/start-error.ts";
import { dataFolderPaths } from "./folders.ts";
import { openLog } from "./log-file.ts";
import { plainEnvironment } from "./run-program.ts";
import type { SupervisorOptions } from "./supervisor.ts";

const LOG_LIMIT_BYTES = 1024 * 1024;

/** Starts a supervisor, which outlives this process if others use it too. The promise rejects if it fails. */
export function launchSupervisor(options: SupervisorOptions): Promise<void> {
  const log = openLog(dataFolderPaths(options.dataDir).supervisorLog, LOG_LIMIT_BYTES);
  const child = spawn(process.execPath, [programPath, JSON.stringify(options)], {
    cwd: options.dataDir,
    detached: true,
    env: { ...plainEnvironment(), ...toCacheSetting() },
    stdio: ["ignore", "pipe", log],
    windowsHide: true,
  });
  closeSync(log);
  // Neither keeps a process that is done: the pipe is a socket, whose type doesn't say so.
  child.unref();
  (child.stdout as Socket).unref();
  return new Promise((resolve, reject) => {
    let sentence = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      sentence += text;
    });
    child.once("error", reject);
    child.once("close", (code) => (code === 1 ? reject(new StartError(sentence)) : resolve()));
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
