import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";

const CONNECTIONS = 64;

const HEADERS = {
  "content-type": "application/json",
  "user-agent": "Service-Webhooks/1.0 (+https://docs.example/webhooks)",
  "service-event": "booking.created",
  "service-delivery": "11111111-2222-4333-8444-555555555555",
  "service-signature": `t=1700000000,v1=${"0".repeat(64)}`,
};

/** POSTs per second of plain undici loops, which don't look up, sign, guard or record anything. */
export async function measurePosts(options: {
  url: string;
  body: Buffer;
  warmUpMs: number;
  measureMs: number;
}): Promise<number> {
  const dispatcher = new Agent({ connections: CONNECTIONS });
  let posted = 0;
  let isOver = false;
  const posting = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) {
      const reply = await request(options.url, { method: "POST", headers: HEADERS, body: options.body, dispatcher });
      await reply.body.dump();
      posted += 1;
    }
  });
  await sleep(options.warmUpMs);
  const start = { at: performance.now(), posted };
  await sleep(options.measureMs);
  const rate = ((posted - start.posted) / (performance.now() - start.at)) * 1000;
  isOver = true;
  await Promise.all(posting);
  await dispatcher.close();
  return rate;
}
