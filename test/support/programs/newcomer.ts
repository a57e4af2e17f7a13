import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { ROOT } from "../repository/document-blocks.ts";
import { CLEAN_ENVIRONMENT } from "./clean-environment.ts";
import { findFreePort } from "./free-port.ts";

// Someone who has just installed Bookflow and follows its documents: a checkout with its own data folder, the service started
// by `npm start`, and a terminal next to it.

const LEFT_OUT = [".git", ".env", "data"];
const START_LIMIT_MS = 60_000;
const COMMAND_LIMIT_MS = 60_000;
const DONE = "--- done ---";

export type Newcomer = {
  readonly folder: string;
  readonly port: number;
  startService(): Promise<void>;
  stopService(): Promise<void>;
  /** Types these commands into the terminal one by one. Returns what is printed; a failing command rejects. */
  type(commands: string): Promise<string>;
};

export async function createNewcomer(): Promise<Newcomer> {
  const folder = mkdtempSync(join(tmpdir(), "bookflow newcomer "));
  // PostgreSQL runs as another user when root starts it, and that user needs access to the folder.
  chmodSync(folder, 0o711);
  for (const name of readdirSync(ROOT)) {
    if (!LEFT_OUT.includes(name)) symlinkSync(join(ROOT, name), join(folder, name));
  }
  const port = await findFreePort();
  // Nothing from the npm that runs the tests: it would send the npm below to the wrong folder.
  const environment = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    PORT: String(port),
    NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/bookflow"),
  };
  const options = { cwd: folder, env: environment, detached: true } as const;
  // The service is started as it is, and the commands from their bundle, which takes a third of the time.
  const typing = { ...options, env: { ...environment, NODE_OPTIONS: CLEAN_ENVIRONMENT.NODE_OPTIONS } };
  const shell = spawn("sh", ["-eu"], { ...typing, stdio: ["pipe", "pipe", "pipe"] });
  const terminal = watch(shell);
  let service: ChildProcess | null = null;
  after(async () => {
    endGroup(shell);
    if (service) await end(service);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  return {
    folder,
    port,
    async startService() {
      service = spawn("npm", ["start"], { ...options, stdio: ["ignore", "pipe", "pipe"] });
      const output = watch(service);
      await output.until(/Bookflow is ready at/, START_LIMIT_MS);
    },
    async stopService() {
      if (service) await end(service);
      service = null;
    },
    async type(commands) {
      // Installed packages are linked, not copied: npm would delete them for everyone.
      assert.doesNotMatch(commands, /\bnpm (ci|i|install|uninstall|update)\b/);
      const file = join(folder, "typed.sh");
      writeFileSync(file, commands);
      const from = terminal.printed().length;
      shell.stdin.write(`. ./typed.sh < /dev/null\necho "${DONE}"\n`);
      await terminal.until(new RegExp(DONE), COMMAND_LIMIT_MS, from);
      return terminal.printed().slice(from).replace(`${DONE}\n`, "");
    },
  };
}

type Watched = {
  /** Standard output so far. */
  printed(): string;
  /** Resolves once either stream contains the text; output before `from` doesn't count. */
  until(pattern: RegExp, limitMs: number, from?: number): Promise<void>;
};

function watch(child: ChildProcess): Watched {
  let printed = "";
  let complained = "";
  let onText: () => void = () => {};
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    onText();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complained += text;
    onText();
  });
  return {
    printed: () => printed,
    until: (pattern, limitMs, from = 0) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${why}:\n${printed.slice(from)}\n${complained}`));
        const timer = setTimeout(() => fail("it took too long"), limitMs);
        const onEnd = () => fail("it ended");
        child.once("exit", onEnd);
        onText = () => {
          if (!pattern.test(printed.slice(from)) && !pattern.test(complained)) return;
          clearTimeout(timer);
          child.removeListener("exit", onEnd);
          resolve();
        };
        onText();
      }),
  };
}

/** npm, its shell and the program: closed once all of them have closed their output. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
}

/** The process and all its children. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // They may all have ended by themselves.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
