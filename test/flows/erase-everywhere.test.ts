import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sql } from "kysely";
import { HOUR_MS } from "#contract/durations.ts";
import { insertPending } from "../../src/server/bookings/flow/pending-queries.ts";
import { takeReference } from "../../src/server/bookings/flow/reference.ts";
import { askApp, readAudit } from "../support/app/app-api.ts";
import { signIn } from "../support/app/sign-in.ts";
import { findFreeTime } from "../support/bookings/book.ts";
import { isCluster } from "../support/database/database.ts";
import { findEverywhere } from "../support/database/search-database.ts";
import {
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  pathOf,
  startReplying,
} from "../support/webhooks/webhook-service.ts";

const ERASED = "mara.quell@patients.example";
const OTHER = "otto.quell@patients.example";
const NEVER_ANSWERED_MS = HOUR_MS;
const GUIDE = new URL("../../docs/security.md", import.meta.url);

const service = await createWebhookService();
const { app, deps, clock, loop } = service;
clock.set(new Date());
const base = await app.listen({ host: "127.0.0.1", port: 0 });

/** Echoes what it was sent, as receivers being debugged do, so the reply becomes part of the log. */
const receiver = await startReplying((request) => ({
  status: pathOf(request).includes("down") ? 500 : 200,
  body: request.body.toString(),
}));

test("erasing by email, in any letter case, removes every trace of that address and nothing else", async () => {
  const { db } = deps;
  const business = await makeBusiness(deps);
  const { owner, widgetId } = business;
  for (const [path, kind] of [["up"], ["down"], ["down/chat", "slack"], ["down/teams", "teams"]] as const)
    await makeEndpoint(deps, business, { url: `${receiver.url}/${path}`, ...(kind === undefined ? {} : { kind }) });

  const bookAs = async (email: string) => {
    const payload = {
      visitId: randomUUID(),
      timeZone: "Europe/Berlin",
      customer: { name: "A. Quell", email, notes: `Please write to ${email}` },
      attribution: { landingPage: `https://site.example/?to=${encodeURIComponent(email)}&who=${email}` },
      ...(await findFreeTime(base, widgetId, `It is ${email}`)),
    };
    const headers = { "idempotency-key": randomUUID() };
    const response = await app.inject({ method: "POST", url: `/embed-api/${widgetId}/bookings`, headers, payload });
    assert.equal(response.statusCode, 201, response.body);
  };
  await bookAs("Mara.Quell@Patients.EXAMPLE");
  await bookAs(OTHER);
  await deliverAll(loop);
  await bookAs(ERASED);
  await leaveUnsettled({ owner, widgetId, email: ERASED.toUpperCase() });
  const admin = await signIn(service, { role: "admin", organizationId: owner });
  await signIn(service, { role: "viewer", organizationId: owner, email: ERASED });

  const traces = [
    "public.bookings",
    "public.deliveries",
    "public.delivery_attempts",
    "public.pending_bookings",
    "public.users",
    "public.webhook_events",
  ];
  const holdPeople = traces.map((name) => name.replace("public.", "")).filter((name) => name !== "users");
  const [command = "", tables] = /vacuum \(full, analyze\) ([a-z_, ]+);/.exec(readFileSync(GUIDE, "utf8")) ?? [];
  assert.deepEqual(tables?.split(", "), holdPeople, "the guide's command writes every table with customers anew");
  const appointments = () => db.selectFrom("sandbox_appointments").selectAll().orderBy("reference").execute();
  const [before, booked] = [await findEverywhere(db, ERASED), await appointments()];
  assert.deepEqual(before, traces);

  await sql`analyze bookings`.execute(db);
  const quotesBefore = await countQuotes(ERASED);
  // In a cluster, each server has the statistics of its own tables.
  assert.ok(quotesBefore > 0 || isCluster());

  const erased = await askApp(app, admin, "POST /bookings/erase", { email: "MARA.quell@PATIENTS.example" });
  assert.deepEqual(erased, { status: 200, body: { count: 2, isErased: true } });

  assert.deepEqual(await findEverywhere(db, ERASED), ["public.users"], "a member with this address stays a member");
  assert.deepEqual(await findEverywhere(db, encodeURIComponent(ERASED)), []);
  assert.equal(await countQuotes(ERASED), quotesBefore, "the planner's statistics still quote it");
  await sql.raw(command).execute(db);
  assert.equal(await countQuotes(ERASED), 0);
  const search = async (text: string) => (await askApp(app, admin, `GET /bookings?search=${text}`)).body;
  assert.deepEqual(await search("mara.quell"), { data: [], nextCursor: null });
  const csv = String((await askApp(app, admin, "GET /bookings.csv")).body);
  assert.deepEqual([csv.toLowerCase().includes("mara"), csv.includes(OTHER)], [false, true]);
  assert.deepEqual(await appointments(), booked, "what the scheduling system has is not touched");
  const others = traces.filter((name) => !/users|pending/.test(name));
  assert.deepEqual(await findEverywhere(db, OTHER), others, "others stay");
  const log = (await readAudit(db, owner)) as { action: string }[];
  assert.deepEqual(
    log.filter(({ action }) => action === "bookings.erased"),
    [{ action: "bookings.erased", target: null, detail: { bookings: 2 } }],
  );

  const sent = receiver.requests.length;
  moveClock(service, 24 * 3_600);
  await deliverAll(loop);
  const late = receiver.requests.slice(sent).map(({ body }) => body.toString().toLowerCase());
  assert.ok(late.length > 0 && late.every((body) => !body.includes("mara")), "only the others' retries continue");
});

/** How many columns the planner's statistics quote it from. */
async function countQuotes(text: string): Promise<number> {
  const { rows } = await sql`
    select from pg_stats where tablename = 'bookings' and strpos(lower(pg_stats::text), ${text}) > 0`.execute(deps.db);
  return rows.length;
}

/** A booking request whose process died while waiting for the scheduling system. */
async function leaveUnsettled(options: {
  owner: Parameters<typeof insertPending>[1];
  widgetId: Parameters<typeof insertPending>[2]["widget_id"];
  email: string;
}): Promise<void> {
  const now = clock.now();
  const later = new Date(now.getTime() + NEVER_ANSWERED_MS);
  const place = { page: "", source: "", medium: "", campaign: "", channel: "", device: "", country: "" };
  await insertPending(deps.db, options.owner, {
    reference: await takeReference(deps.db, options.owner, deps.random),
    widget_id: options.widgetId,
    asked_in: "sandbox",
    service_id: "any",
    start_at: later,
    askingUntil: later,
    keyHash: Buffer.from(randomUUID()),
    visitHash: Buffer.from(randomUUID()),
    now,
    hit: { visitId: randomUUID(), ...place },
    copy: {
      timeZone: "Europe/Berlin",
      customer: { name: "A. Quell", email: options.email, phone: null, notes: null },
      answers: [],
      attribution: {},
    },
  });
}
