import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { FAILING_PATH, Receiver } from "../../scripts/demo/receiver/receiver.ts";
import { renderSlackMessage } from "../../scripts/demo/receiver/render-slack.ts";
import { renderAdaptiveCard } from "../../scripts/demo/receiver/render-teams.ts";
import { findFreePort, openSmallServer } from "../../scripts/demo/small-server.ts";
import { toSlackCard } from "../../src/server/webhooks/outbox/cards/slack-card.ts";
import { toTeamsCard } from "../../src/server/webhooks/outbox/cards/teams-card.ts";
import { signBody } from "../../src/server/webhooks/request/sign.ts";
import { anyBookingEvent, bookingCreated } from "../support/webhooks/card-sample.ts";

const SECRET = "whsec_of-the-demos-receiver-in-tests";
const links = { site: "http://localhost:3001", deliveries: "http://localhost:3000/app" };

const receiver = new Receiver({ listSecrets: async () => [SECRET], links });
const server = await openSmallServer((request, response) => receiver.handle(request, response), 0);
after(() => server.close());

const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;

async function deliver(path: string, body: Buffer, secret?: string): Promise<[number, string]> {
  const signature = secret && signBody({ secrets: [secret], body, at: new Date() });
  const headers = signature
    ? { "service-signature": signature, "service-delivery": "b6f2", "service-event": "booking.created" }
    : {};
  const response = await fetch(at(path), { method: "POST", headers, body: new Uint8Array(body) });
  return [response.status, await response.text()];
}

async function readPage(): Promise<string> {
  return await (await fetch(at("/"))).text();
}

test("the demo's receiver answers like the real ones, and shows what it got", async () => {
  const customer = { name: "<img src=x onerror=alert(1)> & Söhne", email: "x@example.com", phone: null, notes: null };
  const event = bookingCreated({ booking: { customer } });
  const body = Buffer.from(JSON.stringify(event));
  assert.deepEqual(await deliver("/webhook", body, SECRET), [200, "stored"]);
  assert.deepEqual(await deliver("/webhook", body, "whsec_another"), [400, "refused"]);
  assert.equal((await deliver(FAILING_PATH, body, SECRET))[0], 500);
  assert.equal((await deliver(FAILING_PATH, body, SECRET))[0], 500);
  assert.deepEqual(await deliver("/slack", toSlackCard(event, false)), [200, "ok"]);
  assert.deepEqual(await deliver("/teams", toTeamsCard(event, false)), [202, ""]);
  assert.equal((await deliver("/webhook", Buffer.from("{")))[0], 400);

  const page = await readPage();
  assert.equal(page.match(/Signature verified/g)?.length, 1);
  assert.match(page, /Invalid signature: The signature does not match this secret and body\./);
  assert.match(page, /attempt 4/);
  assert.ok(page.includes("&lt;img src=x onerror=alert(1)&gt; &amp; Söhne") && !page.includes("<img src=x"));
});

test("the demo's page is told of every arrival once, even after a broken connection", async () => {
  const body = toSlackCard(bookingCreated(), false);
  const last = /data-last="(\d+)"/.exec(await readPage())?.[1];
  const stop = new AbortController();
  const follow = async (after: string) => {
    const stream = await fetch(at(`/stream?after=${after}`), { signal: stop.signal });
    return stream.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]() ?? assert.fail();
  };
  const readUntil = async (stream: AsyncIterator<string>, pattern: RegExp) => {
    let text = "";
    while (!pattern.test(text)) text += (await stream.next()).value;
    return text;
  };
  const live = await follow(last ?? "");
  await readUntil(live, /retry/);
  await deliver("/slack", body);
  const told = await readUntil(live, /data: .*\n\n/);
  assert.match(told, new RegExp(`id: ${Number(last) + 1}\ndata: \\{"panel":"slack"`));
  assert.equal(told.match(/data: /g)?.length, 1);
  const late = await readUntil(await follow(last ?? ""), /data: .*\n\n/);
  assert.match(late, new RegExp(`id: ${Number(last) + 1}\n`));
  stop.abort();
});

test("a port in use is detected, and the demo's own servers take the next one", async () => {
  assert.equal(await findFreePort(server.port), null);
  const next = await openSmallServer((_request, response) => void response.end(), server.port);
  after(() => next.close());
  assert.ok(next.port > server.port);
  assert.equal((await fetch(`http://127.0.0.1:${next.port}`)).status, 200);
});

test("whatever a booking contains, the drawn cards contain only our own markup", () => {
  const tags = /<\/?(?:div|p|dl|dt|dd|strong|a|span)(?: (?:class|href|target|rel)="[^"<>]*")*>/g;
  fc.assert(
    fc.property(anyBookingEvent, (event) => {
      const slack = renderSlackMessage(JSON.parse(toSlackCard(event, false).toString())).toString();
      const [attachment] = JSON.parse(toTeamsCard(event, false).toString()).attachments;
      for (const markup of [slack, renderAdaptiveCard(attachment.content).toString()])
        assert.doesNotMatch(markup.replaceAll(tags, ""), /[<>]/);
    }),
    { numRuns: 200 },
  );
});

test("a card can't put a script into a link, and unknown parts are named, not drawn", () => {
  const url = "javascript:alert(1)";
  const slack = renderSlackMessage({
    blocks: [
      { type: "actions", elements: [{ type: "button", text: { type: "plain_text", text: "Go" }, url }] },
      { type: "image", image_url: url },
      "text",
    ],
  });
  const teams = renderAdaptiveCard({
    body: [{ type: "Image", url }, null],
    actions: [{ type: "Action.OpenUrl", title: "Go", url }],
  });
  for (const markup of [slack.toString(), teams.toString()]) assert.doesNotMatch(markup, /javascript|href|<img/i);
});
