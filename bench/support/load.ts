import { fork } from "node:child_process";
import { join } from "node:path";

export type LoadPlan = {
  readonly port: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Whole HTTP/1.1 requests, sent in turn. Each `<uuid>` in them becomes a fresh UUID, which has the length of `UUID`. */
  readonly requests: readonly string[];
};

export type LoadResult = {
  rate: number;
  p50Ms: number;
  p99Ms: number;
  /** Number of responses by status; any unexpected status spoils a measurement. */
  statuses: Record<string, number>;
};

export const UUID = "<uuid>";

/** Sends requests from a separate process; `onMeasure` is called when the warm-up is over and at the end. */
export async function runLoad(plan: LoadPlan, onMeasure: (moment: "start" | "end") => void): Promise<LoadResult> {
  const generator = fork(join(import.meta.dirname, "load-generator.ts"), { serialization: "advanced" });
  return await new Promise((resolve, reject) => {
    generator.on("message", (message: { kind: "start" } | { kind: "end"; result: LoadResult }) => {
      onMeasure(message.kind);
      if (message.kind === "end") resolve(message.result);
    });
    generator.once("error", reject);
    generator.once("exit", (code) => reject(new Error(`The load generator ended with ${code}`)));
    generator.send(plan);
  });
}

export function toRequest(parts: {
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}): string {
  const body = parts.body ?? "";
  const length = body.replaceAll(UUID, "x".repeat(36)).length;
  const headers = { host: "localhost", ...parts.headers, ...(body === "" ? {} : { "content-length": String(length) }) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${parts.method} ${parts.path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
