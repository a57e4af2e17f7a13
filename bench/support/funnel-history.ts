import { join } from "node:path";
import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { KEY_KINDS, type KeyKind, toKeyId, toKindNumber } from "../../src/server/analytics/record/key-id.ts";
import { type Db, openLongRunningDb, openPool, type Pool } from "../../src/server/db/connections/pool.ts";
import { createLog } from "../../src/server/lib/log/log.ts";
import { systemClock } from "../../src/server/lib/time/clock.ts";
import { readCpuMs, readEndedCpuMs } from "./process-usage.ts";
import type { Service } from "./service.ts";

// Two years of an organization's visits, inserted straight into their table. They are then packed as by `stats
// rebuild`.

export const HISTORY_DAYS = 730;
export const WIDGETS = 20;
/** Distinct source / medium pairs per day, and as many campaigns. Some are replaced each month. */
export const KEYS_PER_DAY = 200;
const NEW_KEYS_PER_MONTH = 20;
/** Each visit takes one to five steps. */
const EVENTS_PER_VISIT = 3;
const VISITS_PER_INSERT = 100_000;

export type History = {
  owner: OrganizationId;
  widgetId: WidgetId;
  key: string;
  events: number;
  rebuildMs: number;
  /** Processor time of PostgreSQL and of the command. */
  rebuildCpuMs: number;
};

/** Everything but the visits is made by commands, so that other checkouts can be measured too. They end now, after `days`. */
export async function makeHistory(service: Service, events: number, days = HISTORY_DAYS): Promise<History> {
  const org = ["org", "create", "--name", "Bench", "--plan", "business", "--time-zone", "Europe/Berlin"];
  const owner = (await service.command(...org))["id"] as OrganizationId;
  const { id: widgetId = "" } = await service.command("widget", "create", "--org", owner, "--name", "Widget");
  const { key = "" } = await service.command("key", "create", "--org", owner, "--name", "Bench");
  await withPool(service, async (pool) => {
    const db = openLongRunningDb(pool);
    const widgets = await copyWidget(db, widgetId);
    const [visits, now] = [Math.round(events / EVENTS_PER_VISIT), systemClock.now()];
    for (let first = 0; first < visits; first += VISITS_PER_INSERT) {
      const last = Math.min(first + VISITS_PER_INSERT, visits) - 1;
      await insertVisits(owner, { widgets, visits, first, last, now, days }).execute(db);
    }
    await insertKeys(db, owner, now);
    await pool.query("vacuum analyze funnel_visits");
  });
  const readUsed = () => (readCpuMs(service.postmasterPid ?? 0) ?? 0) + (readEndedCpuMs(process.pid) ?? 0);
  const [startedAt, usedBefore] = [performance.now(), readUsed()];
  await service.command("stats", "rebuild", "--org", owner);
  const [rebuildMs, rebuildCpuMs] = [performance.now() - startedAt, readUsed() - usedBefore];
  await withPool(service, (pool) => pool.query("vacuum analyze"));
  return { owner, widgetId: widgetId as WidgetId, key, events, rebuildMs, rebuildCpuMs };
}

/** Returns the ids of all. A command for each would take longer than everything else on a busy machine. */
async function copyWidget(db: Db, widgetId: string): Promise<string[]> {
  const copies = Array.from({ length: WIDGETS - 1 }, (_, n) => `${widgetId.slice(0, -2)}${String(n + 10)}`);
  await sql`
    insert into widgets select copy.*
    from widgets widget cross join unnest(${copies}::text[]) as copies (id)
    cross join lateral jsonb_populate_record(widget, jsonb_build_object('id', copies.id)) copy
    where widget.id = ${widgetId}`.execute(db);
  return [widgetId, ...copies];
}

/** The service's database. Checkouts differ in how processes share one, so each is opened by its own code. */
async function withPool<Result>(service: Service, work: (pool: Pool) => Promise<Result>): Promise<Result> {
  const open = (await import(
    join(service.root, "src/server/db/embedded/open.ts")
  )) as typeof import("../../src/server/db/embedded/open.ts");
  const database = await open.openEmbeddedDatabase({ dataDir: service.dataDir, notice: () => undefined });
  const pool = openPool({ url: database.url, size: 3, log: createLog("silent") });
  try {
    return await work(pool);
  } finally {
    await pool.end();
    await database.release();
  }
}

const MEDIUMS = ["cpc", "email", "organic", "referral"];
const CLASSES = KEYS_PER_DAY + NEW_KEYS_PER_MONTH * 24;
const DEVICES = ["mobile", "desktop", "tablet"];
const COUNTRIES = ["DE", "AT", "CH", "PL", "FR", "GB", "US"];
const PAGES = Array.from({ length: 40 }, (_, n) => `https://www.lindenhof.example/page-${n}`);

/** The texts of class n, device n and so on; numbers past the end wrap around. */
const KEYS: Readonly<Record<KeyKind, readonly string[]>> = {
  channel: Array.from({ length: 15 }, (_, n) => `Channel ${n}`),
  source: Array.from({ length: CLASSES }, (_, n) => `source-${n} / ${MEDIUMS[n % MEDIUMS.length]}`),
  campaign: Array.from({ length: CLASSES }, (_, n) => `campaign-${n}`),
  page: PAGES,
  device: DEVICES,
  country: COUNTRIES,
};

const idsOf = (kind: KeyKind) => KEYS[kind].map((key) => toKeyId(kind, key));

async function insertKeys(db: Db, owner: OrganizationId, now: Date): Promise<void> {
  for (const kind of KEY_KINDS)
    await sql`
      insert into funnel_keys (organization_id, id, kind, key, used_on)
      select ${owner}, id, ${toKindNumber(kind)}, key, ${now}::date
      from unnest(${idsOf(kind)}::bigint[], ${KEYS[kind]}::text[]) as named (id, key)`.execute(db);
}

/** Visit n happens n / visits of the way through the days; its number decides its widget, class and steps. */
function insertVisits(
  owner: OrganizationId,
  options: { widgets: readonly string[]; visits: number; first: number; last: number; now: Date; days: number },
): RawBuilder<unknown> {
  const pick = (kind: KeyKind, n: RawBuilder<unknown>) =>
    sql`(${idsOf(kind)}::bigint[])[1 + ${n} % ${sql.lit(KEYS[kind].length)}]`;
  const step = (position: number) =>
    sql`case when ${sql.lit(position)} <= steps then start_at + ${sql.lit(position)} * interval '20 seconds' end`;
  return sql`
    insert into funnel_visits (organization_id, widget_id, visit_id, started_at, channel, source, campaign, page, device,
      country, viewed_at, service_at, date_at, slot_at, converted_at, bookings)
    select ${owner}, (${options.widgets}::text[])[1 + (n + n / ${KEYS_PER_DAY}) % ${WIDGETS}], visit_id, ${step(1)},
      ${pick("channel", sql`class`)}, ${pick("source", sql`class`)}, ${pick("campaign", sql`class`)},
      ${pick("page", sql`(n / 3)`)}, ${pick("device", sql`(n / 5)`)}, ${pick("country", sql`(n / 11)`)},
      ${step(1)}, ${step(2)}, ${step(3)}, ${step(4)}, ${step(5)},
      case when steps = 5 then jsonb_build_object(n::text, jsonb_build_array(
        (extract(epoch from start_at) * 1000)::bigint + 100000, 345500000)) end
    from generate_series(${options.first}::integer, ${options.last}::integer) n
    cross join lateral (
      select gen_random_uuid() as visit_id,
        ${options.now}::timestamptz - (${options.visits} - n) * interval '1 day' * ${options.days}::float8 / ${options.visits} as start_at,
        n % ${KEYS_PER_DAY} + ${NEW_KEYS_PER_MONTH} * (n * 24::bigint / ${options.visits})::integer as class,
        1 + (n / 7) % 5 as steps
    ) visit`;
}
