import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { CLEAN_ENVIRONMENT } from "./clean-environment.ts";

const MAIN = fileURLToPath(new URL("../../../src/server/main.ts", import.meta.url));
const READY = /Bookflow is ready at http:\/\/\S+:(\d+)/;
const READY_LIMIT_MS = 60_000;

/** The service in its own process, on a port chosen by the system. */
export type ServiceProcess = {
  port: number;
  pid: number;
  /** Everything it has written so far: log lines and messages for the operator. */
  output(): string;
  /** Resolves when the process has ended. */
  kill(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
};

export async function startServiceProcess(settings: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      NODE_OPTIONS: CLEAN_ENVIRONMENT.NODE_OPTIONS,
      HOST: "127.0.0.1",
      PORT: "0",
      LOG_LEVEL: "warn",
      SECRET_KEY: "a secret key for tests, of 32 characters and more",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A failing test must not leave it running.
  after(() => end(child, "SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const port = await readPort(child);
  return { port, pid: child.pid ?? 0, output: () => output, kill: (signal) => end(child, signal) };
}

async function readPort(child: ChildProcess): Promise<number> {
  let said = "";
  return await new Promise((resolve, reject) => {
    const giveUp = (why: string) => {
      clearTimeout(timer);
      reject(new Error(`The service ${why}: ${said}`));
    };
    const timer = setTimeout(() => giveUp("did not get ready"), READY_LIMIT_MS);
    child.once("exit", (code) => giveUp(`ended with ${code}`));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const port = READY.exec(said)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
  });
}

async function end(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
