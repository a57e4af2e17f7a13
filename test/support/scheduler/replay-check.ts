import { AccountLimits } from "../../../src/server/scheduler/account-limits.ts";
import { type ConnectionCheck, checkParts } from "../../../src/server/scheduler/check/check-connection.ts";
import type { Exchange } from "../../../src/server/scheduler/check/record-exchanges.ts";
import {
  type ConnectionParts,
  parseConnectionParts,
} from "../../../src/server/scheduler/connections/connection-settings.ts";
import { SCHEDULER_LIMITS } from "../../../src/server/scheduler/limit-system.ts";
import type { Outbound } from "../../../src/server/scheduler/outbound.ts";
import { startLocalServer } from "./local-server.ts";
import { createTestOutbound } from "./outbound.ts";

// For tests: runs a saved connection check again. A server on this machine answers as the real system did: the n-th request to a
// path gets the n-th recorded response, and an unrecorded request is a fault.

type Replay = { readonly check: ConnectionCheck; readonly faults: readonly string[] };

export async function replayCheck(saved: ConnectionCheck): Promise<Replay> {
  const server = await startReplayServer(saved.exchanges);
  try {
    const clock = { now: () => new Date(saved.checkedAt) };
    const scheduler = {
      outbound: withRecordedFailures(createTestOutbound(clock), server.failures),
      accountLimits: new AccountLimits(clock),
      limits: SCHEDULER_LIMITS,
    };
    const withBooking = saved.steps.some(({ name }) => name === "book");
    const wanted = { withBooking, email: saved.email, reference: saved.reference };
    const check = await checkParts({ clock, scheduler }, toParts(saved, server.url), wanted);
    return { check, faults: server.faults };
  } finally {
    await server.stop();
  }
}

/** The server closes the connection for every failure; the adapter gets the recorded reason. */
function withRecordedFailures(outbound: Outbound, failures: string[]): Outbound {
  return {
    ...outbound,
    send: async (request, signal) => {
      const reply = await outbound.send(request, signal);
      if (reply.kind !== "failure") return reply;
      // Recorded from a reply of the same type.
      return { ...reply, code: (failures.shift() ?? reply.code) as typeof reply.code };
    },
  };
}

/** What was requested, without the host. Requests that run at the same time may be recorded in any order. */
export function toRequests({ exchanges }: ConnectionCheck): string[] {
  const hosts = [...new Set(exchanges.map(({ url }) => new URL(url).origin))];
  return exchanges
    .map(({ method, url, body }) =>
      hosts.reduce((text, host) => text.replaceAll(host, ""), `${method} ${url} ${JSON.stringify(body)}`),
    )
    .sort();
}

/** The secrets are not in the file, and the server doesn't check them. */
function toParts({ kind, settings }: ConnectionCheck, serverUrl: string): ConnectionParts {
  const replaced = Object.entries(settings).map(([name, value]) => {
    const url = /^https?:/.test(value) ? new URL(value) : null;
    return [name, url === null ? value : serverUrl + url.pathname.replace(/\/$/, "")];
  });
  const credentials = { clientSecret: "replayed", apiKey: "replayed", token: "replayed" };
  const parsed = parseConnectionParts(kind, { settings: Object.fromEntries(replaced), credentials });
  if (parsed.kind === "refused") throw new Error(`The saved check lacks ${parsed.fields.join(", ")}.`);
  return parsed.parts;
}

async function startReplayServer(
  exchanges: readonly Exchange[],
): Promise<{ url: string; faults: string[]; failures: string[]; stop: () => Promise<void> }> {
  const left = [...exchanges];
  const origins = [...new Set(exchanges.map(({ url }) => new URL(url).origin))];
  const faults: string[] = [];
  const failures: string[] = [];
  const local = await startLocalServer(({ method, path }) => {
    const index = left.findIndex(
      (exchange) => exchange.method === method && decodeURIComponent(new URL(exchange.url).pathname) === path,
    );
    const [exchange] = index < 0 ? [] : left.splice(index, 1);
    if (exchange === undefined) {
      faults.push(`${method} ${path} was not recorded`);
      return { status: 501 };
    }
    if (exchange.status === null) {
      failures.push(exchange.failure ?? "connection_reset");
      return "reset";
    }
    const { status, retryAfterMs, requestId, json } = exchange;
    return {
      status,
      headers: {
        ...(retryAfterMs === null ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) }),
        ...(requestId === null ? {} : { "X-Request-Id": requestId }),
      },
      // Links in responses, such as those to the next page, point back here.
      json: JSON.parse(origins.reduce((text, origin) => text.replaceAll(origin, local.url), JSON.stringify(json))),
    };
  });
  return { url: local.url, faults, failures, stop: () => local.stop() };
}
