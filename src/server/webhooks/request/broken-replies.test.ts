import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import { startReceiver } from "../../../../test/support/webhooks/receiver.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  pathOf,
  readAttempts,
  readDelivery,
  readEndpoint,
} from "../../../../test/support/webhooks/webhook-service.ts";

// Replies that start and don't end. A receiver that has sent a status has answered.

const service = await createWebhookService({ webhookTimeoutMs: 3_000 });
const { deps, clock, loop } = service;

type Ended = { kind: EndpointKind; head: string; body: string; state: string; error: string | null; isOff?: true };

const REPLIES: Readonly<Record<string, Ended>> = {
  "410": { kind: "webhook", head: "410 Gone", body: "half", state: "failed", error: "http_status", isOff: true },
  "302": {
    kind: "webhook",
    head: "302 Found\r\nLocation: http://127.0.0.1:1/",
    body: "half",
    state: "retrying",
    error: "redirect",
  },
  "503": {
    kind: "webhook",
    head: "503 Later\r\nRetry-After: 1500",
    body: "half",
    state: "retrying",
    error: "http_status",
  },
  "200": { kind: "webhook", head: "200 OK", body: "half", state: "delivered", error: null },
  slack404: { kind: "slack", head: "404 No", body: "no_service", state: "failed", error: "http_status" },
  slack410: {
    kind: "slack",
    head: "410 No",
    body: "channel_is_archived",
    state: "failed",
    error: "http_status",
    isOff: true,
  },
  slack200: { kind: "slack", head: "200 OK", body: "ok", state: "delivered", error: null },
  slackCut: { kind: "slack", head: "200 OK", body: "inv", state: "retrying", error: "broken" },
  teams404: { kind: "teams", head: "404 No", body: "", state: "failed", error: "http_status" },
  teamsCut: { kind: "teams", head: "200 OK", body: "", state: "retrying", error: "broken" },
};

for (const [how, broken] of [
  ["closes", "connection_reset"],
  ["stays silent", "timeout"],
] as const) {
  test(`a reply whose body breaks off counts by its status, and the part received is stored: the receiver ${how}`, async () => {
    const receiver = await startReceiver((socket, request) => {
      const reply = REPLIES[pathOf(request).slice(1)];
      assert.ok(reply);
      socket.write(`HTTP/1.1 ${reply.head}\r\nContent-Length: 100\r\n\r\n${reply.body}`);
      if (how === "closes") socket.end();
    });
    after(() => receiver.stop());
    const cases = [];
    for (const [name, reply] of Object.entries(REPLIES)) {
      const business = await makeBusiness(deps);
      const url = `http://127.0.0.1:${receiver.port}/${name}`;
      const { id } = await makeEndpoint(deps, business, { url, kind: reply.kind });
      await book(deps, business);
      cases.push({ name, reply, owner: business.owner, id });
    }
    await deliverAll(loop);
    for (const { name, reply, owner, id } of cases) {
      const delivery = await readDelivery(deps, owner);
      const [attempt] = await readAttempts(deps, owner);
      const endpoint = await readEndpoint(deps, id);
      assert.deepEqual(
        [
          delivery.state,
          attempt?.status,
          attempt?.error_code,
          attempt?.reply,
          attempt?.reply_is_truncated,
          endpoint.status,
        ],
        [
          reply.state,
          Number(reply.head.slice(0, 3)),
          reply.error === "broken" ? broken : reply.error,
          reply.body,
          true,
          reply.isOff ? "disabled" : "enabled",
        ],
        name,
      );
      if (name === "503") {
        const asked = new Date(clock.now().getTime() + 1_500_000);
        assert.deepEqual([delivery.next_attempt_at, endpoint.paused_until], [asked, asked]);
      }
    }
  });
}
