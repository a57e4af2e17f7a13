import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { type SignedIn, signIn } from "../../../../test/support/app/sign-in.ts";
import { makeWidget } from "../../../../test/support/builders.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;

type Saved = { id: string; name: string; query: string };

async function save(person: SignedIn, body: object) {
  const response = await askApp(app, person, "POST /analytics/segments", body);
  return { status: response.status, body: response.body as Saved & { error?: { code: string } } };
}

const list = async (person: SignedIn) =>
  ((await askApp(app, person, "GET /analytics/segments")).body as { data: Saved[] }).data;

test("a segment is saved, renamed and deleted by members, listed by name for everyone, and audited", async () => {
  const member = await signIn(testApp, { role: "member" });
  const viewer = await signIn(testApp, { role: "viewer", organizationId: member.organizationId });
  const { status, body: ads } = await save(member, {
    name: " Ads on phones ",
    query: "channel=paid+search&device=mobile",
  });
  assert.equal(status, 201);
  assert.deepEqual(ads, { id: ads.id, name: "Ads on phones", query: "channel=Paid%20Search&device=mobile" });
  const { body: abroad } = await save(member, { name: "Abroad", query: "notCountry=DE&notCountry=AT" });
  assert.deepEqual(await list(viewer), [abroad, ads]);

  const renamed = await askApp(app, member, `PATCH /analytics/segments/${ads.id}`, { name: "Adverts" });
  assert.deepEqual(renamed, { status: 200, body: { ...ads, name: "Adverts" } });
  assert.equal((await askApp(app, member, `DELETE /analytics/segments/${abroad.id}`)).status, 204);
  assert.equal((await askApp(app, member, `DELETE /analytics/segments/${abroad.id}`)).status, 404);
  assert.deepEqual(await list(viewer), [{ ...ads, name: "Adverts" }]);
  assert.deepEqual(await readAudit(deps.db, member.organizationId), [
    { action: "segment.created", target: ads.id, detail: { name: "Ads on phones" } },
    { action: "segment.created", target: abroad.id, detail: { name: "Abroad" } },
    { action: "segment.changed", target: ads.id, detail: { name: "Adverts", formerName: "Ads on phones" } },
    { action: "segment.deleted", target: abroad.id, detail: { name: "Abroad" } },
  ]);
});

test("a segment has filters and nothing else, and only those that a report accepts", async () => {
  const member = await signIn(testApp, { role: "member" });
  const stranger = await signIn(testApp, { role: "member" });
  const foreign = await makeWidget(deps.db, stranger.organizationId);
  const { body } = await save(member, { name: "Weekends", query: "days=7&weekday=sunday&token=x" });
  assert.equal(body.query, "weekday=sunday");
  for (const [query, expected] of [
    ["", "400 bad_request"],
    ["days=7", "400 bad_request"],
    ["weekday=someday", "400 bad_request"],
    [`campaign=${"a".repeat(1_001)}`, "400 bad_request"],
    [`widget=${foreign}`, "404 not_found"],
  ] as const) {
    const response = await save(member, { name: "Wrong", query });
    assert.equal(`${response.status} ${response.body.error?.code}`, expected, query);
  }
  for (const name of ["", "a".repeat(61), "two\nlines"])
    assert.equal((await save(member, { name, query: "device=mobile" })).status, 422, name);
  assert.equal((await list(member)).length, 1);
});

test("a form that is sent again saves one segment", async () => {
  const member = await signIn(testApp, { role: "member" });
  const headers = { ...member.headers, "idempotency-key": "one" };
  const form = { name: "Phones", query: "device=mobile" };
  const first = await save({ ...member, headers }, form);
  assert.deepEqual(await save({ ...member, headers }, form), first);
  assert.equal((await list(member)).length, 1);
});

test("an organization has at most 100 segments", async () => {
  const member = await signIn(testApp, { role: "member" });
  const rows = Array.from({ length: 100 }, (_, number) => ({
    organization_id: member.organizationId,
    id: `seg_${number}` as never,
    name: `Segment ${number}`,
    query: "device=mobile",
    created_at: deps.clock.now(),
  }));
  await deps.db.insertInto("segments").values(rows).execute();
  const { status, body } = await save(member, { name: "One more", query: "device=mobile" });
  assert.equal(status, 409);
  assert.deepEqual(body.error, {
    code: "conflict",
    message: "An organization can have at most 100 segments. Delete one that is no longer needed.",
  });
  assert.equal((await list(member)).length, 100);
});
