import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { makeHit } from "../../../../test/support/funnel/hits.ts";
import { openDb, openPool } from "../../db/connections/pool.ts";
import { createLog } from "../../lib/log/log.ts";
import { systemRandom } from "../../lib/secrets/random.ts";
import type { VisitFacts } from "./hit.ts";
import { KeyCap, keepStoredKeys } from "./key-cap.ts";
import { recordHits } from "./record.ts";

const { db } = await createTestDatabase();
const log = createLog("silent");
const visit = (source: string, campaign = "(not set)"): VisitFacts => ({
  ...{ page: "", device: "mobile", country: "DE" },
  source,
  medium: "cpc",
  campaign,
  channel: "Paid Search",
});
const other = (campaign = "(not set)"): VisitFacts => ({ ...visit("(other)", campaign), medium: "(other)" });

type OwnedOrigin = { organizationId: OrganizationId; widgetId: WidgetId; network: string };

async function makeOrigin(organizationId?: OrganizationId): Promise<OwnedOrigin> {
  const owner = organizationId ?? (await makeOrganization(db));
  return { organizationId: owner, widgetId: await makeWidget(db, owner), network: "203.0.113.7" };
}

function createCap(limits: { perNetwork: number; perWidget: number }, from = db): KeyCap {
  return new KeyCap({ db: from, log, random: systemRandom }, limits);
}

/** As for a new visit that was recorded, or for one that was not. */
async function apply(cap: KeyCap, origin: OwnedOrigin, one: VisitFacts, { at = NOON, isNewVisit = true } = {}) {
  const capped = await cap.apply(origin, one, at);
  if (typeof capped === "string") return capped;
  capped.settle(isNewVisit);
  return capped.visit;
}

async function record({ organizationId, widgetId }: OwnedOrigin, one: VisitFacts, at: Date) {
  await recordHits(db, [{ ...makeHit({ widgetId, visit: 1, at }), ...one, organizationId }]);
}

const FEW = { perNetwork: 3, perWidget: 3 };
const ONE = { perNetwork: 1, perWidget: 1 };

test("once a widget has its new keys of the day, further ones are (other); the channel and earlier keys are kept", async () => {
  const origin = await makeOrigin();
  const cap = createCap(FEW);
  for (const source of ["a", "b", "c"]) assert.deepEqual(await apply(cap, origin, visit(source)), visit(source));
  assert.deepEqual(await apply(cap, origin, visit("d")), other());
  assert.deepEqual(await apply(cap, origin, visit("a")), visit("a"));
  for (const campaign of ["1", "2", "3"])
    assert.deepEqual(await apply(cap, origin, visit("a", campaign)), visit("a", campaign));
  assert.deepEqual(await apply(cap, origin, visit("a", "4")), visit("a", "(other)"));
  assert.deepEqual(await apply(cap, origin, visit("d", "4")), other("(other)"));
  assert.deepEqual(await apply(cap, origin, visit("d"), { at: new Date(NOON.getTime() + DAY_MS) }), visit("d"));
});

test("one network uses up its own share, never the widget's", async () => {
  const origin = await makeOrigin();
  const cap = createCap({ perNetwork: 2, perWidget: 3 });
  for (const source of ["a", "b"]) assert.deepEqual(await apply(cap, origin, visit(source)), visit(source));
  assert.deepEqual(await apply(cap, origin, visit("c")), other());
  assert.deepEqual(await apply(cap, { ...origin, network: "198.51.100.1" }, visit("c")), visit("c"));
  assert.deepEqual(
    await apply(cap, { ...origin, network: "198.51.100.2" }, visit("d")),
    other(),
    "the widget's last place",
  );
});

test("widgets don't take up each other's places, of one organization or of two", async () => {
  const origin = await makeOrigin();
  const cap = createCap(ONE);
  assert.deepEqual(await apply(cap, origin, visit("a")), visit("a"));
  assert.deepEqual(await apply(cap, await makeOrigin(origin.organizationId), visit("b")), visit("b"));
  assert.deepEqual(await apply(cap, await makeOrigin(), visit("c")), visit("c"));
  assert.deepEqual(await apply(cap, origin, visit("d")), other());
});

test("a key that the organization has used before keeps its name and takes no place", async () => {
  const origin = await makeOrigin();
  await record(origin, visit("known", "sale"), new Date(NOON.getTime() - 5 * DAY_MS));
  const cap = createCap(ONE);
  assert.deepEqual(await apply(cap, origin, visit("a", "1")), visit("a", "1"));
  assert.deepEqual(await apply(cap, origin, visit("b", "2")), other("(other)"));
  assert.deepEqual(await apply(cap, origin, visit("known", "sale")), visit("known", "sale"));
  const sibling = await makeOrigin(origin.organizationId);
  assert.deepEqual(await apply(cap, sibling, visit("known", "3")), visit("known", "3"));
  assert.deepEqual(
    await apply(cap, await makeOrigin(), visit("known", "sale")),
    visit("known", "sale"),
    "as a new key",
  );
  const stranger = await makeOrigin();
  await apply(cap, stranger, visit("x"));
  assert.deepEqual(await apply(cap, stranger, visit("known")), other(), "another organization's key");
});

test("untagged traffic is never (other), and takes no place", async () => {
  const origin = await makeOrigin();
  const cap = createCap(ONE);
  const direct: VisitFacts = { ...visit("(direct)"), medium: "(none)", channel: "Direct" };
  assert.deepEqual(await apply(cap, origin, direct), direct);
  assert.deepEqual(await apply(cap, origin, visit("a")), visit("a"));
  assert.deepEqual(await apply(cap, origin, visit("b")), other());
  assert.deepEqual(await apply(cap, origin, direct), direct);
});

test("a flood within one process gets exactly as many places as there are", async () => {
  const origin = await makeOrigin();
  const cap = createCap({ perNetwork: 100, perWidget: 1_000 });
  const applied = await Promise.all(
    Array.from({ length: 500 }, (_, n) => apply(cap, origin, visit(`key-${n}`, `campaign-${n}`))),
  );
  const kept = applied.filter((one) => typeof one !== "string" && one.source !== "(other)");
  assert.equal(kept.length, 100);
});

test("a visit that was known or not recorded uses up no place", async () => {
  const origin = await makeOrigin();
  const cap = createCap(ONE);
  for (const source of ["a", "b"]) {
    assert.deepEqual(await apply(cap, origin, visit(source), { isNewVisit: false }), visit(source));
  }
  assert.deepEqual(await apply(cap, origin, visit("c")), visit("c"));
  assert.deepEqual(await apply(cap, origin, visit("d")), other());
});

test("many visits at once with the same new key use up one place", async () => {
  const origin = await makeOrigin();
  const cap = createCap(FEW);
  const claims = await Promise.all(Array.from({ length: 3 }, () => cap.apply(origin, visit("a"), NOON)));
  for (const claim of claims) {
    assert.ok(typeof claim !== "string");
    claim.settle(true);
  }
  for (const source of ["b", "c"]) assert.deepEqual(await apply(cap, origin, visit(source)), visit(source));
  assert.deepEqual(await apply(cap, origin, visit("d")), other());
});

test("an attempt to book that failed keeps stored keys and adds none", async () => {
  const origin = await makeOrigin();
  await record(origin, visit("known"), NOON);
  const { organizationId } = origin;
  assert.deepEqual(await keepStoredKeys(db, organizationId, visit("known", "new")), visit("known", "(other)"));
  assert.deepEqual(await keepStoredKeys(db, organizationId, visit("new")), other());
});

test("a database that is needed but unavailable is an error", async () => {
  const pool = openPool({ url: "postgres://nobody@127.0.0.1:1/none", size: 2, log });
  const cap = createCap(FEW, openDb(pool));
  const origin = await makeOrigin();
  assert.equal(await cap.apply(origin, visit("a"), NOON), "database_unavailable");
  await pool.end();
});
