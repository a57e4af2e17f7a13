import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { DAY_MS } from "#contract/durations.ts";
import { NOON } from "../../../../test/support/builders.ts";
import { isCluster } from "../../../../test/support/database/database.ts";
import { createWebhookService, makeBusiness, makeEndpoint } from "../../../../test/support/webhooks/webhook-service.ts";

// What a booking costs the database is mostly the number of its statements.

type Protocol = {
  query(text: string): void;
  parse(message: { name?: string; text: string }): void;
  bind(message: { statement?: string }): void;
};

/** The statements that this process runs, by name or text. */
function recordStatements(): string[] {
  const ran: string[] = [];
  const protocol = pg.Connection.prototype as unknown as Protocol;
  const { query, parse, bind } = protocol;
  let unnamed = "";
  protocol.query = function (text) {
    ran.push(text);
    query.call(this, text);
  };
  protocol.parse = function (message) {
    if (!message.name) unnamed = message.text.trim();
    parse.call(this, message);
  };
  protocol.bind = function (message) {
    ran.push(message.statement || unnamed);
    bind.call(this, message);
  };
  after(() => Object.assign(protocol, { query, parse, bind }));
  return ran;
}

const STATEMENTS_MAX = 16;

test("a stored booking with a webhook takes few statements", { skip: isCluster() }, async () => {
  const { app, deps } = await createWebhookService();
  const business = await makeBusiness(deps);
  const { widgetId } = business;
  await makeEndpoint(deps, business, { url: "http://127.0.0.1:1/" });
  const { services } = (await app.inject(`/embed-api/${widgetId}/config`)).json();
  const service = services.find(({ questions }: { questions: unknown[] }) => questions.length === 0);
  const [from, to] = [NOON, new Date(NOON.getTime() + 7 * DAY_MS)].map((day) => day.toISOString().slice(0, 10));
  const url = `/embed-api/${widgetId}/slots?service=${service.id}&from=${from}&to=${to}`;
  const { slots } = (await app.inject(url)).json();
  const book = async (start: string) => {
    const response = await app.inject({
      method: "POST",
      url: `/embed-api/${widgetId}/bookings`,
      headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
      payload: JSON.stringify({
        visitId: crypto.randomUUID(),
        page: "https://lindenhof.example/",
        serviceId: service.id,
        start,
        timeZone: "Europe/Berlin",
        customer: { name: "Mara Quell", email: "mara@example.com" },
        answers: [],
        attribution: { utmSource: "google" },
      }),
    });
    assert.equal(response.statusCode, 201, response.body);
  };
  for (const { start } of slots.slice(0, 5)) await book(start);
  const ran = recordStatements();
  await book(slots[5].start);
  // Waking the workers is not awaited, and shared by many bookings.
  const own = ran.filter((each) => each !== "notify");
  assert.ok(own.length <= STATEMENTS_MAX, own.join("\n"));
});
