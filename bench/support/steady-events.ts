import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { WidgetId } from "#contract/ids.ts";
import type { Service } from "./service.ts";

/** Sends views of new visits at this rate until the returned function is called. */
export function sendSteadily(service: Service, widgetId: WidgetId, perSecond: number): () => Promise<void> {
  const address = `http://127.0.0.1:${service.port}/embed-api/${widgetId}/events`;
  const send = async () => {
    const body = JSON.stringify({ visitId: randomUUID(), events: [{ step: "widget_viewed" }] });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(address, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`An event got ${answer.status}: ${await answer.text()}`);
  };
  const ending = new AbortController();
  const sending = (async () => {
    const startedAt = performance.now();
    const underWay: Promise<void>[] = [];
    for (let n = 1; !ending.signal.aborted; n++) {
      underWay.push(send());
      const waitMs = startedAt + (n * 1_000) / perSecond - performance.now();
      await sleep(Math.max(0, waitMs), undefined, { signal: ending.signal }).catch(() => {});
    }
    await Promise.all(underWay);
  })();
  return async () => {
    ending.abort();
    await sending;
  };
}
