import assert from "node:assert/strict";
import type { FastifyInstance, InjectOptions } from "fastify";

// What work costs, compared with other work in the same process: machines differ by a factor of four, and others use them too.

/** One measurement within the limit is enough: the others include compiling, garbage collection and other processes. */
const TRIES_MAX = 12;
/** On a busy machine, nearly every measurement of a long text is interrupted. */
const LONG_TRIES_MAX = 20 * TRIES_MAX;
const TIMES_LONGER = 16;
/** Linear work takes sixteen times as long for a text sixteen times as long, and quadratic work 256 times. */
const TIMES_SLOWER_MAX = 64;
/** Some systems count processor time in steps of 4 ms, so that single requests can't be compared. */
const PLAIN_REQUESTS = 200;

export function assertGrowsLinearly(work: (length: number) => void, length: number): void {
  const shortLength = Math.floor(length / TIMES_LONGER);
  const shortMs = Math.min(...Array.from({ length: TRIES_MAX }, () => measureMs(() => work(shortLength))));
  let longMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < LONG_TRIES_MAX && longMs > TIMES_SLOWER_MAX * shortMs; tries++)
    longMs = Math.min(
      longMs,
      measureMs(() => work(length)),
    );
  assert.ok(longMs <= TIMES_SLOWER_MAX * shortMs, `${shortMs} ms for ${shortLength}, but ${longMs} ms for ${length}`);
}

function measureMs(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

/** Compares the processor time of requests with that of a plain one. */
export async function compareRequests(app: FastifyInstance, plain: InjectOptions) {
  const measure = async (request: InjectOptions, times: number) => {
    const before = process.threadCpuUsage();
    let responseBytes = 0;
    for (let count = 0; count < times; count++) {
      const { statusCode, rawPayload } = await app.inject(request);
      assert.ok(statusCode < 500, `it was answered with ${statusCode}`);
      responseBytes = rawPayload.length;
    }
    const { user, system } = process.threadCpuUsage(before);
    return { eachMs: (user + system) / 1_000 / times, responseBytes };
  };
  await measure(plain, PLAIN_REQUESTS);
  const { eachMs: plainMs } = await measure(plain, PLAIN_REQUESTS);

  /** Each megabyte of the answer counts as another request: whoever asks for a large file must receive it. */
  return async function assertCost(request: InjectOptions, plainRequestsMax: number): Promise<void> {
    const tried: string[] = [];
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const { eachMs, responseBytes } = await measure(request, 1);
      if (eachMs <= plainMs * plainRequestsMax * (1 + responseBytes / 1e6)) return;
      tried.push(eachMs.toFixed(1));
    }
    const what = JSON.stringify(request).slice(0, 120);
    assert.fail(
      `more than ${plainRequestsMax} plain requests of ${plainMs.toFixed(2)} ms: ${tried.join()} ms, ${what}`,
    );
  };
}
