import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { askApp } from "../../../../test/support/app/app-api.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  pathOf,
  readEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { sweepExpired } from "../../operations/retention.ts";
import { deleteEndpoint, rotateSecret } from "./endpoints.ts";

// A chat's URL and a signing secret are passwords: what is shown of them, and how long they are kept.

const service = await createWebhookService();
const { app, deps, clock, loop } = service;

async function makeTeam() {
  const business = await makeBusiness(deps);
  return { ...business, member: await signIn(service, { role: "admin", organizationId: business.owner }) };
}

test("a chat's shortened URL is not accepted as a URL", async () => {
  const team = await makeTeam();
  const receiver = await startReplying(() => ({ body: "ok" }));
  const { id } = await makeEndpoint(deps, team, { url: `${receiver.url}/T0/SECRET`, kind: "slack" });
  const [{ url } = { url: "" }] = ((await askApp(app, team.member, "GET /endpoints")).body as { data: AppEndpoint[] })
    .data;
  assert.match(url, /^http:\/\/127\.0\.0\.1:[0-9]+\/…CRET$/);
  const reason = "The URL is shortened (…). Enter the full URL.";
  for (const [route, body] of [
    [`PATCH /endpoints/${id}`, { url, description: "Sales", was: { url, description: "" } }],
    [`PATCH /endpoints/${id}`, { url: encodeURI(url) }],
    ["POST /endpoints", { url, kind: "slack" }],
  ] as const) {
    const response = await askApp(app, team.member, route, body);
    const { error } = response.body as { error: { fields: Record<string, string> } };
    assert.deepEqual([response.status, error.fields], [422, { url: reason }], route);
  }
  await book(deps, team);
  await deliverAll(loop);
  assert.deepEqual(receiver.requests.map(pathOf), ["/hooks/T0/SECRET"]);
});

test("removing a chat forgets its URL; the log keeps showing the shortened one", async () => {
  for (const kind of ["slack", "teams"] as const) {
    const team = await makeTeam();
    const receiver = await startReplying(() => ({ body: "ok" }));
    const { id } = await makeEndpoint(deps, team, { url: `${receiver.url}/T0/SECRET?sig=PASSWORD`, kind });
    await book(deps, team);
    await deliverAll(loop);
    const shown = async () =>
      ((await askApp(app, team.member, "GET /deliveries")).body as { data: AppDelivery[] }).data[0]?.endpoint.url;
    const before = await shown();
    assert.equal(before, `http://127.0.0.1:${receiver.port}/…WORD`);
    assert.ok(await deleteEndpoint(deps, team.owner, id, noAudit));
    assert.equal(await shown(), before);
    const row = await readEndpoint(deps, id);
    assert.deepEqual([row.url, row.secret.length], [before, 0]);
  }
});

test("the previous secret is forgotten a day after a rotation, and no longer mentioned", async () => {
  const team = await makeTeam();
  const { id } = await makeEndpoint(deps, team, { url: "http://127.0.0.1:9/" });
  const young = await makeEndpoint(deps, team, { url: "http://127.0.0.1:9/" });
  const rotated = await rotateSecret(deps, team.owner, { id, overlapHours: 24 }, noAudit);
  assert.ok(rotated.kind === "rotated");
  const spokenOf = async () => {
    const { body } = await askApp(app, team.member, "GET /endpoints");
    const { data } = body as { data: AppEndpoint[] };
    return data.find((endpoint) => endpoint.id === id)?.previousSecretExpiresAt;
  };
  moveClock(service, 24 * 3_600 - 0.001);
  assert.equal(await spokenOf(), rotated.previousExpiresAt?.toISOString());
  await sweepExpired(deps);
  assert.ok((await readEndpoint(deps, id)).previous_secret, "it still signs");
  await rotateSecret(deps, team.owner, { id: young.id, overlapHours: 24 }, noAudit);

  moveClock(service, 0.001);
  assert.deepEqual(clock.now(), rotated.previousExpiresAt);
  assert.equal(await spokenOf(), null, "also before it is deleted");
  assert.equal((await sweepExpired(deps)).secrets, 1);
  const { previous_secret, previous_secret_expires_at, secret_hint } = await readEndpoint(deps, id);
  assert.deepEqual([previous_secret, previous_secret_expires_at], [null, null]);
  assert.equal(secret_hint, rotated.secret.slice(-4));
  assert.ok((await readEndpoint(deps, young.id)).previous_secret);
});

test("a chat's URL is nowhere in the database in plain text, and can be edited", async () => {
  for (const kind of ["slack", "teams"] as const) {
    const team = await makeTeam();
    const receiver = await startReplying((request) => ({
      status: pathOf(request).includes("FIRST") ? 500 : 200,
      body: "ok",
    }));
    const { id } = await makeEndpoint(deps, team, { url: `${receiver.url}/FIRST-PASSWORD`, kind });
    await book(deps, team);
    await deliverAll(loop);
    const edit = await askApp(app, team.member, `PATCH /endpoints/${id}`, { url: `${receiver.url}/SECOND-PASSWORD` });
    assert.equal(edit.status, 200);
    assert.doesNotMatch(JSON.stringify(edit.body), /PASSWORD/);
    moveClock(service, 30);
    await deliverAll(loop);
    assert.deepEqual(receiver.requests.map(pathOf), ["/hooks/FIRST-PASSWORD", "/hooks/SECOND-PASSWORD"]);
    for (const password of ["FIRST-PASSWORD", "SECOND-PASSWORD"]) {
      assert.deepEqual(await findTablesWith(password), [], password);
      assert.ok(!service.lines.some((line) => line.includes(password)), "nor in the log");
    }
  }
});

/** Tables with a row that contains this text. */
async function findTablesWith(text: string): Promise<string[]> {
  const tables = await sql<{
    name: string;
  }>`select tablename as name from pg_tables where schemaname = 'public'`.execute(deps.db);
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } =
      await sql`select from ${sql.table(name)} as row where row::text like ${`%${text}%`} limit 1`.execute(deps.db);
    if (rows.length > 0) found.push(name);
  }
  return found;
}
