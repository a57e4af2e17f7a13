import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { findFreePort } from "../../test/support/programs/free-port.ts";

const READY_LIMIT_MS = 60_000;
const POLL_MS = 50;

export type Child = { pid: number; port: number; stop(): Promise<void> };

/** Runs a TypeScript file that serves HTTP on PORT, or on WORKER_PORT, and waits until it answers at `readyPath`. */
export async function startServer(options: {
  file: string;
  nodeOptions?: readonly string[];
  readyPath: string;
  environment?: Readonly<Record<string, string>>;
}): Promise<Child> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), options.file], {
    env: { ...process.env, HOST: "127.0.0.1", PORT: String(port), WORKER_PORT: String(port), ...options.environment },
    // Log lines are written, as in production, and discarded.
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitUntilReady(child, `http://127.0.0.1:${port}${options.readyPath}`);
  return { pid: child.pid ?? 0, port, stop: () => stopChild(child) };
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < READY_LIMIT_MS; waitedMs += POLL_MS) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.at(-1)} ended with ${child.exitCode}`);
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return;
    await sleep(POLL_MS);
  }
  throw new Error(`${url} did not answer`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
