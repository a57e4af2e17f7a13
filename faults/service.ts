import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readFileSync, type WriteStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../src/server/main.ts", import.meta.url));
const SHIFT_CLOCK = new URL("./shift-clock.ts", import.meta.url).href;
const READY_LIMIT_MS = 180_000;

export class Service {
  readonly name: string;
  readonly port: number;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #log: WriteStream;
  #child: ChildProcess | null = null;
  /** Unexpected exits. */
  readonly unexpectedExits: string[] = [];

  constructor(spec: { name: string; port: number; settings: Readonly<Record<string, string>>; logPath: string }) {
    this.name = spec.name;
    this.port = spec.port;
    this.#settings = spec.settings;
    this.#log = createWriteStream(spec.logPath, { flags: "a" });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, ["--import", SHIFT_CLOCK, MAIN], {
      env: { ...process.env, ...this.#settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    child.stdout?.pipe(this.#log, { end: false });
    child.stderr?.pipe(this.#log, { end: false });
    child.once("exit", (code, signal) => {
      if (this.#child === child) this.unexpectedExits.push(`${this.name} ended by itself (${signal ?? code})`);
    });
    await this.untilReady(READY_LIMIT_MS);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Resolves with the exit code or the signal that ended the process. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<string> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return "gone before";
    const ended = once(child, "exit");
    child.kill(signal);
    const [code, endedBy] = await ended;
    return String(endedBy ?? code);
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(3_000) });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  async untilReady(limitMs: number): Promise<number> {
    const startedAt = performance.now();
    while (!(await this.isReady())) {
      if (performance.now() - startedAt > limitMs) throw new Error(`${this.name} is not ready after ${limitMs} ms`);
      await sleep(50);
    }
    return performance.now() - startedAt;
  }

  readMemoryMb(): number {
    try {
      const status = readFileSync(`/proc/${this.#child?.pid}/status`, "utf8");
      return (Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024) / 1e6;
    } catch {
      return Number.NaN;
    }
  }
}
