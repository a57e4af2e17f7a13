import type { Exchange } from "../check/record-exchanges.ts";
import { startLocalServer } from "./local-server.ts";

// For tests: answers a saved connection check's requests as the real system did. The n-th request to a path gets the n-th
// recorded response; an unrecorded request is a fault.

type ReplayServer = { readonly url: string; readonly faults: string[]; stop(): Promise<void> };

export async function startReplayServer(exchanges: readonly Exchange[]): Promise<ReplayServer> {
  const left = [...exchanges];
  const origins = [...new Set(exchanges.map(({ url }) => new URL(url).origin))];
  const faults: string[] = [];
  const local = await startLocalServer(({ method, path }) => {
    const index = left.findIndex(
      (exchange) => exchange.method === method && decodeURIComponent(new URL(exchange.url).pathname) === path,
    );
    const [exchange] = index < 0 ? [] : left.splice(index, 1);
    if (exchange === undefined) {
      faults.push(`${method} ${path} was not recorded`);
      return { status: 501 };
    }
    if (exchange.status === null) return "reset";
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
  return { url: local.url, faults, stop: () => local.stop() };
}
