import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type LoadPlan, type LoadResult, UUID } from "./load.ts";

// A child process that keeps every connection busy with one request at a time. It writes requests and parses responses by hand,
// because an HTTP client would take as much CPU as the service being measured.

process.once("message", async (plan: LoadPlan) => {
  const result = await measure(plan);
  process.send?.({ kind: "end", result }, () => process.disconnect?.());
});

type Tally = { durationsMs: number[]; statuses: Record<string, number> };

async function measure(plan: LoadPlan): Promise<LoadResult> {
  const nextRequest = createRequests(plan.requests);
  let tally: Tally | null = null;
  const sockets = await Promise.all(
    Array.from({ length: plan.connections }, () =>
      keepBusy(plan.port, nextRequest, (status, durationMs) => {
        if (!tally) return;
        tally.durationsMs.push(durationMs);
        tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
      }),
    ),
  );
  await sleep(plan.warmUpMs);
  const measured: Tally = { durationsMs: [], statuses: {} };
  tally = measured;
  process.send?.({ kind: "start" });
  const startedAt = performance.now();
  await sleep(plan.measureMs);
  const seconds = (performance.now() - startedAt) / 1000;
  tally = null;
  for (const socket of sockets) socket.destroy();
  const durations = measured.durationsMs.sort((a, b) => a - b);
  return {
    rate: durations.length / seconds,
    p50Ms: durations[Math.floor(durations.length * 0.5)] ?? 0,
    p99Ms: durations[Math.floor(durations.length * 0.99)] ?? 0,
    statuses: measured.statuses,
  };
}

function createRequests(templates: readonly string[]): () => string {
  const split = templates.map((template) => template.split(UUID));
  let turn = 0;
  return () => {
    const parts = split[turn++ % split.length] ?? [];
    let request = parts[0] ?? "";
    for (let i = 1; i < parts.length; i++) request += randomUUID() + parts[i];
    return request;
  };
}

async function keepBusy(
  port: number,
  nextRequest: () => string,
  onResponse: (status: string, durationMs: number) => void,
): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.removeAllListeners("error");
  // Closed at the end of the measurement, or by a server under test.
  socket.on("error", () => socket.destroy());
  let sentAt = 0;
  const send = () => {
    sentAt = performance.now();
    socket.write(nextRequest(), "latin1");
  };
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received = received === "" ? chunk : received + chunk;
    const end = findEnd(received);
    if (end === null) return;
    onResponse(received.slice(9, 12), performance.now() - sentAt);
    received = "";
    send();
  });
  send();
  return socket;
}

/**
 * The end of a complete response, or null while it is incomplete. Our service sends a length with every response except 204.
 */
function findEnd(text: string): number | null {
  const headersEnd = text.indexOf("\r\n\r\n");
  if (headersEnd === -1) return null;
  const match = /content-length: (\d+)/i.exec(text.slice(0, headersEnd));
  const end = headersEnd + 4 + Number(match?.[1] ?? 0);
  return text.length >= end ? end : null;
}
