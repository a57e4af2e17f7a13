import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { WEBHOOK_EVENT_TYPES } from "#contract/webhooks/webhook-event.ts";
import { getJson, makeCaller } from "../../../../test/support/app/read-api.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";

// GET /api/v1/event-types: what receivers need to check and generate code from.

const service = await createWebhookService();
const { app, deps, loop } = service;

type Listed = { type: string; apiVersion: string; schema: object; example: { type: string; apiVersion: string } };

async function listTypes(): Promise<{ caller: Awaited<ReturnType<typeof makeCaller>>; types: Listed[] }> {
  const caller = await makeCaller(deps.db, { plan: "business" });
  const { body, status } = await getJson(app, "/api/v1/event-types", caller.headers);
  assert.equal(status, 200, JSON.stringify(body));
  return { caller, types: (body as { data: Listed[] }).data };
}

/** As a receiver would check it, with another library than ours. */
const compile = (schema: object) => new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

test("every event type is listed with its version, and its example fits its schema and no other", async () => {
  const { types } = await listTypes();
  assert.deepEqual(
    types.map(({ type }) => type),
    [...WEBHOOK_EVENT_TYPES],
  );
  for (const { type, apiVersion, schema, example } of types) {
    assert.deepEqual([example.type, example.apiVersion], [type, apiVersion]);
    const fitting = types.filter((each) => compile(each.schema)(example)).map((each) => each.type);
    assert.deepEqual(fitting, [type]);
    assert.equal(compile(schema)({ ...example, type: undefined }), false);
  }
});

test("an event that is really sent fits the listed schema, and one with a missing field doesn't", async () => {
  const { caller, types } = await listTypes();
  const receiver = await startReplying(() => ({}));
  const business = { ...caller, plan: "business" as const };
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  const event = JSON.parse(receiver.requests[0]?.body.toString() ?? "null");
  const check = compile(types.find(({ type }) => type === "booking.created")?.schema ?? {});
  assert.equal(check(event), true, JSON.stringify(check.errors));
  assert.equal(check({ ...event, data: { ...event.data, booking: {} } }), false);
});

test("the API reference has every event type with its schema and an example", async () => {
  const { types } = await listTypes();
  const document = (await app.inject("/api/v1/openapi.json")).json() as {
    webhooks: Record<string, { post: { requestBody: { content: Record<string, { example?: unknown }> } } }>;
  };
  for (const { type, example } of types)
    assert.deepEqual(document.webhooks[type]?.post.requestBody.content["application/json"]?.example, example);
});
