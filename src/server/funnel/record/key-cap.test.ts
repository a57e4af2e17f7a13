import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { eventsBody, listEvents, postEvents } from "../../../../test/support/funnel/collect.ts";
import { openDb, openPool } from "../../db/pool.ts";
import { createLog } from "../../lib/log/log.ts";
import { KEYS_PER_DAY_MAX } from "./day-keys.ts";
import { KeyCap } from "./key-cap.ts";
import { type KeyKind, toKeyId, toKindNumber } from "./key-id.ts";
import type { VisitFacts } from "./touch.ts";

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

async function addKeys(owner: OrganizationId, kind: KeyKind, options: { keys: readonly string[]; day?: string }) {
  await sql`
    insert into funnel_key_days (organization_id, version, widget_id, day, kind, key, views, bookings)
    select ${owner}, 1, '', ${options.day ?? "2026-11-01"}::date, ${toKindNumber(kind)}, key, 1, 0
    from unnest(${options.keys.map((key) => toKeyId(kind, key))}::bigint[]) key`.execute(db);
}

/** As for a new visit that was recorded, or for one that was not. */
async function apply(cap: KeyCap, owner: OrganizationId, one: VisitFacts, { at = NOON, isNewVisit = true } = {}) {
  const capped = await cap.apply(owner, one, at);
  if (typeof capped === "string") return capped;
  capped.settle(isNewVisit);
  return capped.visit;
}

const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

test("once a day has its maximum of distinct keys, new ones are (other); the channel and earlier keys are kept", async () => {
  const owner = await makeOrganization(db);
  const cap = new KeyCap({ db, log }, 3);
  for (const source of ["a", "b", "c"]) assert.deepEqual(await apply(cap, owner, visit(source)), visit(source));
  assert.deepEqual(await apply(cap, owner, visit("d")), other());
  assert.deepEqual(await apply(cap, owner, visit("a")), visit("a"));
  for (const campaign of ["1", "2", "3"])
    assert.deepEqual(await apply(cap, owner, visit("a", campaign)), visit("a", campaign));
  assert.deepEqual(await apply(cap, owner, visit("a", "4")), visit("a", "(other)"));
  assert.deepEqual(await apply(cap, owner, visit("d", "4")), other("(other)"));
});

test("untagged traffic is never (other), and takes no place", async () => {
  const owner = await makeOrganization(db);
  const cap = new KeyCap({ db, log }, 1);
  const direct: VisitFacts = { ...visit("(direct)"), medium: "(none)", channel: "Direct" };
  assert.deepEqual(await apply(cap, owner, direct), direct);
  assert.deepEqual(await apply(cap, owner, visit("a")), visit("a"));
  assert.deepEqual(await apply(cap, owner, visit("b")), other());
  assert.deepEqual(await apply(cap, owner, direct), direct);
});

test("a process that starts during the day counts only today's existing keys", async () => {
  const owner = await makeOrganization(db);
  await addKeys(owner, "source", { keys: numbered("known / cpc", 2) });
  await addKeys(owner, "source", { keys: numbered("key", 900), day: "2026-10-31" });
  await addKeys(owner, "channel", { keys: numbered("key", 900) });
  const cap = new KeyCap({ db, log }, 3);
  assert.deepEqual(await apply(cap, owner, visit("a")), visit("a"));
  assert.deepEqual(await apply(cap, owner, visit("b")), other());
});

test("today is the organization's local day", async () => {
  const owner = await makeOrganization(db, { timeZone: "Pacific/Auckland" });
  const cap = new KeyCap({ db, log }, 1);
  const at = (time: string) => new Date(`2026-11-01T${time}Z`);
  assert.deepEqual(await apply(cap, owner, visit("a"), { at: at("10:59:00") }), visit("a"));
  assert.deepEqual(await apply(cap, owner, visit("b"), { at: at("10:59:59.999") }), other());
  assert.deepEqual(await apply(cap, owner, visit("b"), { at: at("11:00:00") }), visit("b"));
  assert.deepEqual(await apply(cap, owner, visit("a"), { at: at("11:00:01") }), other());
});

test("organizations do not take up each other's places", async () => {
  const [one, two] = [await makeOrganization(db), await makeOrganization(db)];
  const cap = new KeyCap({ db, log }, 1);
  assert.deepEqual(await apply(cap, one, visit("a")), visit("a"));
  assert.deepEqual(await apply(cap, two, visit("b")), visit("b"));
});

test("processes see each other's keys: together they store little more than one would", async () => {
  const owner = await makeOrganization(db);
  const caps = [new KeyCap({ db, log }, 300), new KeyCap({ db, log }, 300)];
  let kept = 0;
  for (let n = 0; n < 800; n++) {
    const key = `key-${n}`;
    const applied = await apply(caps[n % 2] as KeyCap, owner, visit(key));
    if (typeof applied === "string" || applied.source !== key) continue;
    kept += 1;
    await addKeys(owner, "source", { keys: [`${key} / cpc`] });
  }
  assert.ok(kept >= 300 && kept <= 400, `${kept} were kept`);
});

test("a flood within one process stores exactly as many as allowed", async () => {
  const owner = await makeOrganization(db);
  const cap = new KeyCap({ db, log }, 100);
  const applied = await Promise.all(
    Array.from({ length: 500 }, (_, n) => apply(cap, owner, visit(`key-${n}`, `campaign-${n}`))),
  );
  const kept = applied.filter((one) => typeof one !== "string" && one.source !== "(other)");
  assert.equal(kept.length, 100);
});

test("a visit that was known or not recorded uses up no place, unless another visit was recorded with its key", async () => {
  const owner = await makeOrganization(db);
  const cap = new KeyCap({ db, log }, 1);
  for (const source of ["a", "b"]) {
    assert.deepEqual(await apply(cap, owner, visit(source), { isNewVisit: false }), visit(source));
  }
  const claim = async () => {
    const capped = await cap.apply(owner, visit("c"), NOON);
    assert.ok(typeof capped !== "string");
    return capped;
  };
  const [first, second, third] = [await claim(), await claim(), await claim()];
  first.settle(false);
  assert.deepEqual(await apply(cap, owner, visit("d")), other(), "two visits may still be recorded");
  second.settle(true);
  third.settle(false);
  assert.deepEqual(await apply(cap, owner, visit("d")), other());
  assert.deepEqual(await apply(cap, owner, visit("c"), { isNewVisit: false }), visit("c"));
  assert.deepEqual(await apply(cap, owner, visit("d")), other());
});

test("a booking is never delayed: a key that can't be looked up is (other), and a known key is kept", async () => {
  const owner = await makeOrganization(db);
  const cap = new KeyCap({ db, log }, 1);
  assert.deepEqual(await cap.applyForBooking(owner, visit("a"), NOON), visit("a"));
  assert.deepEqual(await cap.applyForBooking(owner, visit("b"), NOON), other());
  const pool = openPool({ url: "postgres://nobody@127.0.0.1:1/none", size: 2, log });
  const away = new KeyCap({ db: openDb(pool), log });
  assert.deepEqual(await away.applyForBooking(owner, visit("a"), NOON), other());
  await pool.end();
});

test("a database that is needed but unavailable is an error", async () => {
  const pool = openPool({ url: "postgres://nobody@127.0.0.1:1/none", size: 2, log: createLog("silent") });
  const cap = new KeyCap({ db: openDb(pool), log });
  assert.equal(await cap.apply("org_1111111111111111" as OrganizationId, visit("a"), NOON), "database_unavailable");
  await pool.end();
});

test(`over HTTP: the ${KEYS_PER_DAY_MAX + 1}st campaign of a day is recorded as (other)`, async () => {
  const { app, deps } = await createTestApp();
  const widget = await makeWidget(deps.db, await makeOrganization(deps.db));
  const post = (campaign: string) =>
    postEvents(
      app,
      widget,
      eventsBody({ attribution: { utmSource: campaign, utmMedium: "cpc", utmCampaign: campaign } }),
    );
  const answers = await Promise.all(Array.from({ length: KEYS_PER_DAY_MAX + 5 }, (_, n) => post(`c${n}`)));
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([204]));
  const rows = await listEvents(deps.db);
  assert.equal(rows.length, KEYS_PER_DAY_MAX + 5);
  assert.equal(new Set(rows.map((row) => row.campaign)).size, KEYS_PER_DAY_MAX + 1);
  const others = rows.filter((row) => row.campaign === "(other)");
  assert.deepEqual(
    new Set(others.map(({ source, medium, channel }) => `${source} / ${medium} / ${channel}`)),
    new Set(["(other) / (other) / Paid Other"]),
  );
  assert.equal(others.length, 5);
});
