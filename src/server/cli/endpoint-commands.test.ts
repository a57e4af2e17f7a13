import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointId } from "#contract/ids.ts";
import { TEST_SECRET_KEY } from "../../../test/support/app/app.ts";
import { readAudit } from "../../../test/support/app/app-api.ts";
import { createCommandLine, type Outcome } from "../../../test/support/app/cli.ts";
import { noAudit } from "../../../test/support/app/no-audit.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  readDeliveries,
  readDelivery,
  readEndpoint,
  startReplying,
  verify,
} from "../../../test/support/webhooks/webhook-service.ts";
import { deleteBooking } from "../bookings/stored/erase/erase.ts";
import { editEndpoint } from "../webhooks/endpoints/endpoints.ts";

const { deps, clock, loop, url } = await createWebhookService();
const cli = createCommandLine({
  DATABASE_URL: url,
  SECRET_KEY: TEST_SECRET_KEY,
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
});
const receiver = await startReplying(() => ({}));

async function runJson(...args: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await cli.runInside([...args, "--json"]);
  assert.deepEqual({ code, stderr, lines: stdout.split("\n").length }, { code: 0, stderr: "", lines: 2 });
  return JSON.parse(stdout) as Record<string, string>;
}

/** The command line has the real clock. The loop's must be after that, and never go back. */
function passSeconds(seconds: number): void {
  clock.set(new Date(Math.max(clock.now().getTime(), Date.now()) + seconds * 1_000));
}

function refusal(sentence: string): Outcome {
  return { code: 2, stdout: "", stderr: `${sentence}\n` };
}

test("endpoint add prints the id and, only once, the signing secret", async () => {
  const business = await makeBusiness(deps);
  const { id, secret, ...rest } = await runJson(
    "endpoint",
    "add",
    "--org",
    business.owner,
    "--url",
    receiver.url,
    "--kind",
    "webhook",
    "--description",
    "Warehouse",
  );
  assert.match(String(id), /^we_[1-9A-HJ-NP-Za-km-z]{16}$/);
  assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{44}$/);
  assert.deepEqual(rest, { sameUrlAs: null });
  assert.equal((await readEndpoint(deps, id as never)).description, "Warehouse");
  await book(deps, business);
  await deliverAll(loop);
  verify(receiver.requests.at(-1) as never, String(secret), clock.now());

  const told = await cli.runInside([
    "endpoint",
    "add",
    "--org",
    business.owner,
    "--url",
    receiver.url,
    "--kind",
    "teams",
  ]);
  assert.match(
    told.stdout,
    /^Added endpoint we_\w{16}\.\nEndpoint we_\w{16} has the same URL, so events that both endpoints receive are sent to this URL twice\.\n$/,
  );
});

test("endpoint add refuses with one clear line", async () => {
  const free = await makeBusiness(deps, "free");
  const pro = await makeBusiness(deps, "pro");
  const add = (owner: string, ...more: string[]) => cli.runInside(["endpoint", "add", "--org", owner, ...more]);
  const settings =
    "[--events booking.created,booking.cancelled,booking.rescheduled,booking.erased] [--widgets WIDGET_ID,…|all] [--services NAME,…|all] [--channels NAME,…|all] [--sources NAME,…|all] [--campaigns NAME,…|all] [--expiry on|off] [--headers JSON] [--rate PER_MINUTE|none]";
  const usage = `Usage: endpoint add --org ORG --url URL --kind webhook|teams|slack [--description TEXT] ${settings}`;
  assert.deepEqual(
    [
      await add(free.owner, "--url", receiver.url, "--kind", "webhook"),
      await add(pro.owner, "--url", "http://example.com/", "--kind", "mail"),
      await add(pro.owner, "--url", "10.0.0.1", "--kind", "webhook"),
      await add(pro.owner, "--url", "https://10.0.0.1/", "--kind", "slack"),
      await add(pro.owner, "--kind", "slack"),
      await add("org_none", "--url", receiver.url, "--kind", "webhook"),
      await add(pro.owner, "--url", receiver.url, "--kind", "webhook", "--description", " "),
    ],
    [
      refusal("Webhooks require the Pro or Business plan. Ask the operator to change the plan."),
      refusal("--kind must be one of webhook, teams, slack."),
      refusal("The URL must be a full address, for example https://example.com/hooks."),
      refusal(
        "This address belongs to a private network (10.0.0.0/8), which can't be reached from the internet. If the server is in your own network, ask the person who runs Bookflow to allow it (setting WEBHOOK_ALLOW_CIDRS).",
      ),
      refusal(`--url is missing. ${usage}`),
      refusal('No organization has the ID "org_none". Run "org list" to see all of them.'),
      refusal("--description: This must not be empty."),
    ],
  );
  for (let n = 0; n < 20; n++)
    await runJson("endpoint", "add", "--org", pro.owner, "--url", receiver.url, "--kind", "webhook");
  assert.deepEqual(
    await add(pro.owner, "--url", receiver.url, "--kind", "webhook"),
    refusal(
      "An organization can have at most 20 endpoints. Delete one that is no longer needed, or ask the operator to raise MAX_ENDPOINTS.",
    ),
  );
});

test("endpoint list shows a chat's URL only by its host and last characters", async () => {
  const { owner } = await makeBusiness(deps);
  assert.equal((await cli.runInside(["endpoint", "list", "--org", owner])).stdout, "No endpoints.\n");
  const { id } = await runJson(
    "endpoint",
    "add",
    "--org",
    owner,
    "--url",
    `${receiver.url}/secret-7890`,
    "--kind",
    "slack",
  );
  const told = await cli.runInside(["endpoint", "list", "--org", owner]);
  assert.deepEqual(told, {
    code: 0,
    stdout: `${id}  slack  enabled  http://127.0.0.1:${receiver.port}/…7890\n`,
    stderr: "",
  });
  const [listed] = JSON.parse((await cli.runInside(["endpoint", "list", "--org", owner, "--json"])).stdout);
  assert.deepEqual(Object.keys(listed), [
    "id",
    "kind",
    "url",
    "description",
    "status",
    "disabledReason",
    "disabledAt",
    "secretHint",
    "secretCreatedAt",
    "previousSecretExpiresAt",
    "eventTypes",
    "widgetIds",
    "services",
    "channels",
    "sources",
    "campaigns",
    "reportsExpiry",
    "headerNames",
    "requestsPerMinute",
    "health",
    "notices",
    "createdAt",
  ]);
});

test("endpoint delete deletes an endpoint once", async () => {
  const business = await makeBusiness(deps);
  const { id } = await runJson("endpoint", "add", "--org", business.owner, "--url", receiver.url, "--kind", "webhook");
  assert.deepEqual(await runJson("endpoint", "delete", String(id)), { id });
  const none = refusal("No endpoint has this ID. Endpoint IDs look like we_….");
  assert.deepEqual(await cli.runInside(["endpoint", "delete", String(id)]), none);
  assert.deepEqual(await cli.runInside(["endpoint", "delete", "whsec_pasted_by_mistake"]), none);
  assert.deepEqual(await cli.runInside(["endpoint", "delete"]), refusal("Usage: endpoint delete ID"));
  await book(deps, business);
  assert.deepEqual(await readDeliveries(deps, business.owner), []);
});

test("endpoint test and delivery redeliver send once, or say why not", async () => {
  const business = await makeBusiness(deps);
  const { id } = await runJson("endpoint", "add", "--org", business.owner, "--url", receiver.url, "--kind", "webhook");
  const { deliveryId } = await runJson("endpoint", "test", String(id));
  // The command line uses real time, and the test's worker its own clock.
  passSeconds(2);
  const before = receiver.requests.length;
  await deliverAll(loop);
  assert.deepEqual([(await readDelivery(deps, business.owner)).id, receiver.requests.length], [deliveryId, before + 1]);

  const redeliver = (delivery: string) => cli.runInside(["delivery", "redeliver", delivery]);
  assert.deepEqual(await redeliver(String(deliveryId)), {
    code: 0,
    stdout: `Queued delivery ${deliveryId} for redelivery.\n`,
    stderr: "",
  });
  assert.deepEqual(await redeliver(String(deliveryId)), refusal("This delivery is already queued."));
  passSeconds(2);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, before + 2);
  const host = new URL(receiver.url).host;
  assert.deepEqual(
    (await readAudit(deps.db, business.owner)).slice(-2),
    [
      { action: "endpoint.tested", target: id, detail: { name: host, delivery: deliveryId } },
      { action: "delivery.redelivered", target: deliveryId, detail: { name: "Test event", endpoint: host } },
    ],
    "what the operator does is in the organization's log",
  );
  const none = refusal("No delivery has this ID. Delivery IDs are UUIDs, as in the Service-Delivery header.");
  assert.deepEqual([await redeliver("x"), await redeliver("11111111-2222-4333-8444-555555555555")], [none, none]);

  const reference = await book(deps, business);
  await deliverAll(loop);
  const delivery = (await readDeliveries(deps, business.owner)).find((each) => each.id !== deliveryId);
  await deleteBooking(deps, business.owner, reference);
  assert.deepEqual(
    await redeliver(String(delivery?.id)),
    refusal("This delivery's booking was erased, so there is nothing left to send."),
  );
  await editEndpoint(deps, business.owner, { id: id as never, isEnabled: false }, noAudit);
  assert.deepEqual(
    await cli.runInside(["endpoint", "test", String(id)]),
    refusal("This endpoint is off. Turn it on first."),
  );
  assert.deepEqual(await redeliver(String(deliveryId)), refusal("This delivery's endpoint is off. Turn it on first."));
  const bulk = ["redelivery", "start", "--org", business.owner, "--from", "2026-01-01", "--endpoint", String(id)];
  assert.deepEqual(await cli.runInside(bulk), refusal("This endpoint is off. Turn it on first."));
});

test("the command line does with endpoints and deliveries what the dashboard does", async () => {
  const business = await makeBusiness(deps);
  let status = 500;
  const failing = await startReplying(() => ({ status }));
  const added = await runJson(
    ...["endpoint", "add", "--org", business.owner, "--url", failing.url, "--kind", "webhook", "--rate", "600"],
    ...["--headers", '{"X-Api-Key":"s3cret"}'],
  );
  const id = String(added["id"]) as EndpointId;
  await runJson("endpoint", "set", id, "--widgets", business.widgetId, "--events", "booking.created,booking.erased");
  const row = await readEndpoint(deps, id);
  assert.deepEqual(
    [row.widget_ids, row.event_types, row.header_names, row.requests_per_minute],
    [[business.widgetId], ["booking.created", "booking.erased"], ["X-Api-Key"], 600],
  );
  const rotated = await runJson("endpoint", "rotate", id, "--overlap", "0");
  assert.deepEqual([rotated["previousSecretExpiresAt"], rotated["secret"] === added["secret"]], [null, false]);

  const reference = await book(deps, business, { customer_email: "jo.winter@example.com" });
  await deliverAll(loop);
  const { id: delivery } = await readDelivery(deps, business.owner);
  const list = async (...filter: string[]) =>
    (await runJson("delivery", "list", "--org", business.owner, ...filter)) as unknown as { id: string }[];
  for (const filter of [
    ["--search", reference],
    ["--search", "JO.winter@example.com"],
    ["--state", "retrying", "--status", "500", "--error", "http_status"],
    ["--widget", business.widgetId, "--endpoint", id],
  ])
    assert.deepEqual(
      (await list(...filter)).map((each) => each.id),
      [delivery],
      filter.join(" "),
    );
  assert.deepEqual(await list("--status", "200"), []);
  const shown = (await runJson("delivery", "show", delivery)) as unknown as {
    attempts: { request: { headers: object } }[];
  };
  assert.deepEqual(Object.entries(shown.attempts[0]?.request.headers ?? {}).at(-1), ["X-Api-Key", "…"]);

  status = 404;
  await runJson("delivery", "retry", delivery);
  passSeconds(2);
  await deliverAll(loop);
  assert.equal(failing.requests.length, 2);
  status = 200;
  assert.deepEqual(await runJson("endpoint", "retry", id), { id, count: 1 });
  passSeconds(2);
  await deliverAll(loop);
  assert.equal((await readDelivery(deps, business.owner)).state, "delivered");

  const started = await runJson(
    "redelivery",
    "start",
    "--org",
    business.owner,
    "--from",
    "2026-01-01",
    "--to",
    "2100-01-01",
    "--states",
    "delivered",
  );
  assert.deepEqual([started["matched"], started["state"]], [1, "finished"]);
  passSeconds(2);
  await deliverAll(loop);
  assert.equal(failing.requests.length, 4);
  const [listed] = (await runJson("redelivery", "list", "--org", business.owner)) as unknown as { delivered: number }[];
  assert.equal(listed?.delivered, 1);

  await runJson("endpoint", "disable", id);
  assert.equal((await readEndpoint(deps, id)).status, "disabled");
  await runJson("endpoint", "enable", id);
  assert.equal((await readEndpoint(deps, id)).status, "enabled");
  for (const [args, sentence] of [
    [["endpoint", "rotate", id, "--overlap", "2"], "--overlap must be one of 0, 1, 24, 168."],
    [
      ["endpoint", "set", id, "--headers", "x"],
      '--headers must be a JSON object with strings as values, for example {"X-Api-Key":"abc"}.',
    ],
    [["endpoint", "set", id, "--widgets", "w_none"], "--widgets: This must be a widget ID."],
    [["endpoint", "set", id, "--rate", "0", "--headers", '{"Host":"a"}'], "--rate: This must be at least 1."],
    [["delivery", "retry", delivery], "This delivery is finished. Redeliver it instead."],
    [
      ["delivery", "list", "--org", business.owner, "--search", "x"],
      "The parameter search must be a reference, an event ID, a delivery ID or a customer's email address.",
    ],
    [["redelivery", "start", "--org", business.owner, "--from", "soon"], "--from: This must be an ISO 8601 date."],
    [["redelivery", "cancel", "--org", business.owner, "rd_1111111111111111"], "Redelivery not found."],
  ] as const)
    assert.deepEqual(await cli.runInside([...args]), refusal(sentence));
});
