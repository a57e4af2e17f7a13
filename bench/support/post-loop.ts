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

/** POSTs a second that plain loops around undici make: nothing is looked up, signed, guarded or written down. */
export async function measurePosts(about: {
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
      const reply = await request(about.url, { method: "POST", headers: HEADERS, body: about.body, dispatcher });
      await reply.body.dump();
      posted += 1;
    }
  });
  await sleep(about.warmUpMs);
  const start = { at: performance.now(), posted };
  await sleep(about.measureMs);
  const rate = ((posted - start.posted) / (performance.now() - start.at)) * 1000;
  isOver = true;
  await Promise.all(posting);
  await dispatcher.close();
  return rate;
}
