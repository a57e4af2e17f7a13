import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import { askApp } from "../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeWidget } from "../../../../test/support/builders.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";

const service = await createWebhookService();
const { app, deps, loop } = service;

test("the log is searched by reference, event, delivery, customer, status, error and widget", async () => {
  const business = await makeBusiness(deps);
  const [member, viewer] = await Promise.all(
    (["member", "viewer"] as const).map((role) => signIn(service, { role, organizationId: business.owner })),
  );
  assert.ok(member && viewer);
  const other = await makeWidget(deps.db, business.owner);
  const receiver = await startReplying((_request, count) => ({ status: count === 1 ? 503 : 200 }));
  await makeEndpoint(deps, business, { url: receiver.url });
  const first = await book(deps, business, { customer_email: "Mara.Quell@example.com" });
  await deliverAll(loop);
  moveClock(service, 1);
  await book(deps, { ...business, widgetId: other }, { customer_email: "someone@example.com" });
  await deliverAll(loop);
  const stranger = await makeBusiness(deps);
  await makeEndpoint(deps, stranger, { url: receiver.url });
  await book(deps, stranger, { customer_email: "mara.quell@example.com" });

  const search = async (query: string, who = member) => await askApp(app, who, `GET /deliveries?${query}`);
  const find = async (query: string) => ((await search(query)).body as { data: AppDelivery[] }).data;
  const all = await find("");
  assert.equal(all.length, 2);
  const [newest, oldest] = all;
  assert.ok(newest && oldest);
  for (const query of [
    `search=${first}`,
    `search=${first.toLowerCase()}`,
    `search=${oldest.event.id}`,
    `search=${oldest.id.toUpperCase()}`,
    "search=%20mara.quell@EXAMPLE.com",
    "status=503",
    "error=http_status",
    `widget=${business.widgetId}`,
    `search=${first}&state=retrying&status=503`,
  ])
    assert.deepEqual(await find(query), [oldest], query);
  assert.deepEqual(await find(`widget=${other}`), [newest]);
  for (const query of [
    "search=SVC-ZZZZZZ",
    "search=nobody@example.com",
    "status=404",
    "status=999",
    `search=${first}&state=failed`,
  ])
    assert.deepEqual(await find(query), [], query);
  assert.equal((await search("search=mara.quell@example.com", viewer)).status, 403, "only members see customers");
  assert.equal((await search(`search=${first}`, viewer)).status, 200);
  for (const query of [
    "search=mara",
    "search=",
    "search=mara%00@example.com",
    "serach=x",
    "state=failed&state=queued",
    "page=2",
  ])
    assert.equal((await search(query)).status, 400, query);
});
