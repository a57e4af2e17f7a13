import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { sql } from "kysely";
import type { Booking } from "#contract/bookings/booking.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { BOOKING_COLUMNS } from "../../src/server/bookings/stored/queries.ts";
import { toApiJson } from "../../src/server/bookings/stored/to-api-json.ts";
import type { Db } from "../../src/server/db/connections/pool.ts";
import { MIGRATIONS_FOLDER, migrate } from "../../src/server/db/migrate.ts";
import { createLog } from "../../src/server/lib/log/log.ts";
import { createTestDatabase, isCluster } from "../support/database/database.ts";

// A database of version 1.1, where PostgreSQL wrote the JSON of a booking, is migrated with bookings in it.

const LAST_OF_GENERATED_JSON = 20;
const log = createLog("silent");

/** The migrations up to this number. */
async function makeFolder(last: number): Promise<URL> {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-migrations-"));
  after(() => rmSync(folder, { recursive: true }));
  const names = (await readdir(MIGRATIONS_FOLDER)).filter((name) => Number(name.slice(0, 4)) <= last);
  for (const name of names) cpSync(new URL(name, MIGRATIONS_FOLDER), join(folder, name));
  return pathToFileURL(`${folder}/`);
}

/** As version 1.1 stores it: without its JSON. */
async function insertOldBooking(db: Db, number: number, attribution: object): Promise<void> {
  await sql`
    insert into bookings (organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone, service_id,
      service_name, staff, customer_name, customer_email, customer_phone, answers, attribution, manage_url)
    values ('org_1', ${`SVC-22222${number}`}, 'w_1', 'confirmed', timestamptz '2026-11-01 12:00Z' + ${number} * interval '1 minute',
      '2026-11-05 09:00Z', '2026-11-05 09:30Z', 'Europe/Berlin', 'svc-1', 'Check-up', '[{"id": "st-1", "name": "Dr. Ada Winter"}]',
      'Mara "Q" Quell', 'mara@example.com', null, '[{"questionId": "q1", "question": "Why?", "answer": "So\\n."}]',
      ${JSON.stringify(attribution)}, 'https://scheduler.example/manage/1')`.execute(db);
}

async function readTexts(db: Db): Promise<string[]> {
  const rows = await db.selectFrom("bookings").select("api_json").orderBy("created_at").execute();
  return rows.map(({ api_json }) => api_json);
}

test("bookings of version 1.1 keep their JSON and get the fields that it left out", { skip: isCluster() }, async () => {
  const { db, pool } = await createTestDatabase({ template: "template1" });
  await migrate({ pool, log, folder: await makeFolder(LAST_OF_GENERATED_JSON) });
  await sql`insert into organizations (id, name, plan, created_at) values ('org_1', 'A', 'business', '2026-01-01')`.execute(
    db,
  );
  await sql`insert into widgets (id, organization_id, name, business_name, template, status, collect_data, created_at)
    values ('w_1', 'org_1', 'W', '', 'classic', 'active', true, '2026-01-01')`.execute(db);
  const fromAd = { source: "google", gclid: "c1", gadSource: "1", gadCampaignid: "21834059621", touches: 2 };
  await insertOldBooking(db, 2, { source: "google", medium: "organic" });
  await insertOldBooking(db, 3, fromAd);
  const [before = ""] = await readTexts(db);

  await migrate({ pool, log, folder: MIGRATIONS_FOLDER });

  const texts = await readTexts(db);
  assert.equal(texts[0], before);
  assert.deepEqual((JSON.parse(texts[1] ?? "") as Booking).attribution, fromAd);
  const rows = await db
    .selectFrom("bookings")
    .select(BOOKING_COLUMNS)
    .where("organization_id", "=", "org_1" as OrganizationId)
    .orderBy("created_at")
    .execute();
  assert.deepEqual(
    texts.map((text) => JSON.parse(text)),
    rows.map((row) => JSON.parse(toApiJson(row))),
  );
  // A process of version 1.1 that still runs must not store a booking that no reader would see.
  await assert.rejects(insertOldBooking(db, 4, {}), { code: "23502", message: /"api_json"/ });
});
