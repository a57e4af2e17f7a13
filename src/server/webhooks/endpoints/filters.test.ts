import assert from "node:assert/strict";
import { test } from "node:test";
import type { AddedEndpoint, AppEndpoint, FilterTrial } from "#contract/app/endpoints.ts";
import { TEST_SECRET_KEY } from "../../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { createCommandLine } from "../../../../test/support/app/cli.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeWidget } from "../../../../test/support/builders.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  moveClock,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import type { NewBooking } from "../../bookings/flow/keep-booking.ts";
import { deleteBooking } from "../../bookings/stored/erase/erase.ts";
import { matchesFilters } from "../outbox/outbox.ts";

// An endpoint can be limited to services, channels, sources and campaigns.

const service = await createWebhookService();
const { app, deps, loop, url } = service;
const cli = createCommandLine({
  DATABASE_URL: url,
  SECRET_KEY: TEST_SECRET_KEY,
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
});

async function makeTeam() {
  const business = await makeBusiness(deps, "business");
  const admin = await signIn(service, { role: "admin", organizationId: business.owner });
  const receiver = await startReplying(() => ({}));
  const ask = async (route: string, body: object) => await askApp(app, admin, route, body);
  const add = async (body: object) => await ask("POST /endpoints", { url: receiver.url, kind: "webhook", ...body });
  const trial = async (body: object) => (await ask("POST /endpoints/try-filters", body)).body as FilterTrial;
  return { business, admin, receiver, ask, add, trial };
}

const AD: Partial<NewBooking> = {
  service_id: "svc-2",
  service_name: "Bleaching",
  attribution: JSON.stringify({ channel: "Paid Search", source: "google", medium: "cpc", campaign: "Autumn" }),
};

test("filters match a value's name, its id or both parts of a source, in any letter case, and all must match", () => {
  const none = { services: null, channels: null, sources: null, campaigns: null };
  const attribution = { channel: "Paid Search", source: "google", medium: "cpc", campaign: "Autumn" };
  const booking = { service: { id: "svc-2", name: "Bleaching" }, attribution };
  const plain = { service: { id: "svc-1", name: "Check-up" }, attribution: {} };
  const cases: [Partial<typeof none> | Record<string, string[]>, boolean, boolean][] = [
    [{}, true, true],
    [{ services: ["bleaching"] }, true, false],
    [{ services: ["svc-1", "svc-2"] }, true, true],
    [{ channels: ["Paid Search", "Direct"] }, true, false],
    [{ channels: ["(not set)"] }, false, true],
    [{ sources: ["google"] }, true, false],
    [{ sources: ["google / cpc"] }, true, false],
    [{ sources: ["google / organic"] }, false, false],
    [{ campaigns: ["autumn"] }, true, false],
    [{ campaigns: ["(not set)"] }, false, true],
    [{ services: ["Bleaching"], campaigns: ["Winter"] }, false, false],
  ];
  for (const [filters, ofBooking, ofPlain] of cases)
    assert.deepEqual(
      [matchesFilters({ ...none, ...filters }, booking), matchesFilters({ ...none, ...filters }, plain)],
      [ofBooking, ofPlain],
      JSON.stringify(filters),
    );
});

test("deliveries are queued for matching bookings only, as the filters are when the booking is made", async () => {
  const { business, receiver, add, ask } = await makeTeam();
  const { endpoint } = (await add({ services: [" Bleaching ", "Bleaching"], channels: ["Paid Search"] }))
    .body as AddedEndpoint;
  assert.deepEqual(
    [endpoint.services, endpoint.channels, endpoint.sources, endpoint.campaigns],
    [["Bleaching"], ["Paid Search"], null, null],
  );
  const sent = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.booking.reference);
  await book(deps, business);
  const wanted = await book(deps, business, AD);
  await deliverAll(loop);
  assert.deepEqual(sent(), [wanted]);
  const changed = (await ask(`PATCH /endpoints/${endpoint.id}`, { services: null, channels: null }))
    .body as AppEndpoint;
  assert.equal(changed.services, null);
  await deliverAll(loop);
  assert.deepEqual(sent(), [wanted], "earlier events stay as they were decided");
  const plain = await book(deps, business);
  await deliverAll(loop);
  assert.deepEqual(sent(), [wanted, plain]);
});

test("erased bookings are reported whatever the filters, so that no copy is kept", async () => {
  const { business, receiver, add } = await makeTeam();
  await add({ eventTypes: ["booking.created", "booking.erased"], services: ["Check-up"] });
  const other = await book(deps, business, AD);
  await deleteBooking(deps, business.owner, other);
  await deliverAll(loop);
  assert.deepEqual(
    receiver.requests.map(({ body }) => JSON.parse(body.toString()).type),
    ["booking.erased"],
  );
});

test("a trial says which of the last 100 events would be sent, sends nothing, and shows nothing personal", async () => {
  const { business, receiver, trial } = await makeTeam();
  for (let i = 0; i < 101; i++) {
    moveClock(service, 1);
    await book(deps, business, i === 0 || i === 50 ? AD : {});
  }
  const erased = await book(deps, business);
  moveClock(service, 1);
  await deleteBooking(deps, business.owner, erased);
  const { events, matching } = await trial({ services: ["Bleaching"], eventTypes: ["booking.created"] });
  assert.deepEqual([events.length, matching], [100, 1], "the oldest one is not among the last 100");
  assert.deepEqual(events[0]?.type, "booking.erased");
  const [match] = events.filter(({ matches }) => matches);
  assert.deepEqual(
    [match?.service, match?.channel, match?.source, match?.campaign],
    ["Bleaching", "Paid Search", "google", "Autumn"],
  );
  assert.doesNotMatch(JSON.stringify(events), /mara|quell|@/i);
  assert.equal((await trial({})).matching, 100);
  assert.equal((await trial({ widgetIds: [await makeWidget(deps.db, business.owner)] })).matching, 0);
  assert.equal((await trial({ channels: ["Direct"] })).matching, 1, "the erased one");
  assert.equal(receiver.requests.length, 0);
});

test("a filter that cannot be meant is refused, when it is saved and when it is tried", async () => {
  const { add, ask } = await makeTeam();
  const texts = (count: number) => Array.from({ length: count }, (_, i) => `Service ${i}`);
  const cases: [object, string][] = [
    [{ services: [] }, "services"],
    [{ services: texts(21) }, "services"],
    [{ sources: [" "] }, "sources"],
    [{ campaigns: ["x".repeat(201)] }, "campaigns"],
    [{ channels: ["Payed Search"] }, "channels"],
    [{ widgetIds: ["w_none"] }, "widgetIds"],
    [{ channel: ["Email"] }, "channel"],
  ];
  for (const [body, field] of cases)
    for (const { body: response } of [await add(body), await ask("POST /endpoints/try-filters", body)])
      assert.deepEqual(Object.keys((response as { error: { fields: object } }).error.fields), [field]);
});

test("two people who change a filter at once are told, and the audit log names it", async () => {
  const { business, add, ask } = await makeTeam();
  const { endpoint } = (await add({ services: ["Check-up"], description: "CRM" })).body as AddedEndpoint;
  const path = `PATCH /endpoints/${endpoint.id}`;
  assert.equal((await ask(path, { services: ["Bleaching"], was: { services: ["Check-up"] } })).status, 200);
  assert.equal((await ask(path, { services: null, was: { services: ["Check-up"] } })).status, 409);
  assert.deepEqual((await readAudit(deps.db, business.owner)).at(-1), {
    action: "endpoint.changed",
    target: endpoint.id,
    detail: { changed: "services", name: "CRM" },
  });
});

test("the command line sets filters, clears them, and tries them", async () => {
  const { business } = await makeTeam();
  await book(deps, business, AD);
  await book(deps, business);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.runInside(args);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
    return stdout;
  };
  const org = ["--org", business.owner];
  assert.match(
    await run("endpoint", "try", ...org, "--channels", "Paid Search"),
    /^1 of the last 2 events would be sent\.\n.*booking\.created.*Bleaching {2}Paid Search\n$/,
  );
  const receiver = await startReplying(() => ({}));
  const wanted = ["--url", receiver.url, "--kind", "webhook", "--services", "Bleaching,svc-1"];
  const { id } = JSON.parse(await run("endpoint", "add", ...org, ...wanted, "--json")) as { id: string };
  const readServices = async () => JSON.parse(await run("endpoint", "list", ...org, "--json"))[0].services;
  assert.deepEqual(await readServices(), ["Bleaching", "svc-1"]);
  await run("endpoint", "set", id, "--services", "all");
  assert.equal(await readServices(), null);
});
