import assert from "node:assert/strict";
import { test } from "node:test";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readDeliveries,
  readEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { redeliver } from "../log/resend.ts";
import { sendTestEvent } from "./send-test-event.ts";

// A chat that answers 401, 403 or 404 to three deliveries in a row is turned off. These tests define what counts toward that
// streak.

const service = await createWebhookService({ webhookRetrySchedule: [1] });
const { deps, loop } = service;

async function startChat() {
  const business = await makeBusiness(deps);
  let status = 404;
  const receiver = await startReplying(() => ({ status, body: status === 200 ? "ok" : "no_service" }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url, kind: "slack" });
  const owner = { id: business.owner, name: "Any" };

  /** Lets the chat's pacing and the one retry pass; returns whether the chat is still on. */
  const settle = async () => {
    for (let n = 0; n < 2; n++) {
      await deliverAll(loop);
      moveClock(service, 1);
    }
    return (await readEndpoint(deps, id)).status;
  };
  return {
    receiver,
    reply: (next: number) => {
      status = next;
    },
    book: async () => {
      await book(deps, business);
      return await settle();
    },
    sendTest: async () => {
      assert.equal((await sendTestEvent(deps, owner, id)).kind, "queued");
      return await settle();
    },
    redeliverFirst: async () => {
      const [first] = await readDeliveries(deps, business.owner);
      assert.ok(first && (await redeliver(deps, owner.id, first.id, noAudit)).kind === "queued");
      return await settle();
    },
  };
}

test("a delivery with any other outcome ends the streak", async () => {
  for (const other of [400, 409, 500]) {
    const chat = await startChat();
    for (const status of [404, 401, other, 403, other, 404, 404]) {
      chat.reply(status);
      assert.equal(await chat.book(), "enabled", `${status} beside ${other}`);
    }
    chat.reply(404);
    assert.equal(await chat.book(), "disabled", `three in a row after ${other}`);
  }
});

test("a redelivery does not count as another delivery, and its failure does not end the streak", async () => {
  const chat = await startChat();
  assert.equal(await chat.book(), "enabled");
  for (const status of [404, 500, 404, 400]) {
    chat.reply(status);
    assert.equal(await chat.redeliverFirst(), "enabled");
  }
  assert.equal(chat.receiver.requests.length, 5);
  chat.reply(404);
  assert.equal(await chat.book(), "enabled");
  assert.equal(await chat.book(), "disabled");
});

test("a test neither counts toward nor ends the streak", async () => {
  const chat = await startChat();
  assert.deepEqual([await chat.book(), await chat.book()], ["enabled", "enabled"]);
  for (const status of [404, 400, 500]) {
    chat.reply(status);
    assert.equal(await chat.sendTest(), "enabled");
  }
  chat.reply(404);
  assert.equal(await chat.book(), "disabled");
});

test("a successful redelivery clears the streak like any success", async () => {
  const chat = await startChat();
  await chat.book();
  await chat.book();
  chat.reply(200);
  await chat.redeliverFirst();
  chat.reply(404);
  assert.deepEqual([await chat.book(), await chat.book()], ["enabled", "enabled"]);
  assert.equal(await chat.book(), "disabled");
});
