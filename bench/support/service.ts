import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Child, startServer } from "./child.ts";
import { findPostmaster } from "./process-usage.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAIN = "src/server/main.ts";
const COMMANDS = "src/server/cli/main.ts";

export type Service = Child & {
  /** The checkout that it runs. */
  root: string;
  dataDir: string;
  postmasterPid: number | null;
  /** Ends the process and keeps its data; `stop` also removes the data. */
  pause(): Promise<void>;
  /** Runs `bookflow <words> --json` on the service's database and returns its output. */
  command(...words: string[]): Promise<Record<string, string>>;
};

/** The real service, started as usual, on an embedded PostgreSQL in its own folder. `root` may be another checkout. */
export async function startService(settings: Readonly<Record<string, string>> = {}, root = ROOT): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-bench-"));
  // PostgreSQL runs as another user when root starts it, and that user needs access to the folder.
  chmodSync(folder, 0o711);
  const dataDir = join(folder, "data");
  // A DATABASE_URL from the environment would be someone's real database.
  const environment = { DATABASE_URL: "", DATA_DIR: dataDir, ...settings };
  const child = await startServer({
    ...{ file: join(root, MAIN), nodeOptions: readNodeOptions(root), readyPath: "/readyz", environment },
  });
  return {
    ...child,
    root,
    dataDir,
    postmasterPid: findPostmaster(realpathSync(join(dataDir, "postgres"))),
    command: (...words) => runCommand(environment, words, root),
    pause: child.stop,
    async stop() {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function runCommand(
  environment: Readonly<Record<string, string>>,
  words: readonly string[],
  root = ROOT,
): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, COMMANDS), ...words, "--json"], {
    env: { ...process.env, ...environment },
  });
  return JSON.parse(stdout) as Record<string, string>;
}

/** A process of the service on a database that is already running. */
export async function startProcess(settings: Readonly<Record<string, string>>): Promise<Child> {
  return await startServer({
    file: join(ROOT, MAIN),
    nodeOptions: readNodeOptions(ROOT),
    readyPath: "/readyz",
    environment: settings,
  });
}

/** The options `npm start` passes to Node: its memory limits are part of what is measured. */
function readNodeOptions(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { start: string } };
  return scripts.start.split(" ").filter((word) => word.startsWith("--"));
}
