import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { WidgetId } from "#contract/ids.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";

export const DESKTOP =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";

/** A body as the booking frame sends it. */
export function eventsBody(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    visitId: randomUUID(),
    page: "https://www.lindenhof.example/booking",
    attribution: {},
    events: [{ step: "widget_viewed" }],
    ...fields,
  };
}

export type Posted = { status: number; body: string; headers: Record<string, unknown> };

export async function postEvents(
  app: FastifyInstance,
  widget: WidgetId | string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Posted> {
  const response = await app.inject({
    method: "POST",
    url: `/embed-api/${widget}/events`,
    headers: { "content-type": "application/json", "user-agent": DESKTOP, ...headers },
    payload: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  return { status: response.statusCode, body: response.body, headers: response.headers };
}

export type EventRow = {
  widget_id: string;
  visit_id: string;
  step: string;
  page: string;
  source: string;
  medium: string;
  campaign: string;
  channel: string;
  device: string;
  country: string;
};

type VisitRow = Record<(typeof STEP_COLUMNS)[number][1], Date | null> & {
  widget_id: string;
  visit_id: string;
  /** By reference; the first number is the instant in milliseconds. */
  bookings: Record<string, number[]>;
  failures: Record<string, number[]>;
};
type TakenStep = { widget_id: string; visit_id: string; step: string; at: Date };

const STEP_COLUMNS = [
  ["widget_viewed", "viewed_at"],
  ["service_selected", "service_at"],
  ["date_selected", "date_at"],
  ["slot_selected", "slot_at"],
  ["form_started", "form_at"],
  ["no_availability", "no_availability_at"],
] as const;

/** Every step of every visit, with its instant. */
export async function listTakenSteps(db: Db): Promise<TakenStep[]> {
  const { rows } = await sql<VisitRow>`
    select widget_id, visit_id::text as visit_id, viewed_at, service_at, date_at, slot_at, form_at, no_availability_at,
      bookings, failures
    from funnel_visits`.execute(db);
  return rows.flatMap((visit) => {
    const { widget_id, visit_id } = visit;
    const conversions = (step: string, times: VisitRow["bookings"]) =>
      Object.values(times ?? {}).map(([ms = 0]) => ({ widget_id, visit_id, step, at: new Date(ms) }));
    return [
      ...STEP_COLUMNS.flatMap(([step, column]) => {
        const at = visit[column];
        return at === null ? [] : [{ widget_id, visit_id, step, at }];
      }),
      ...conversions("booking_completed", visit.bookings),
      ...conversions("booking_failed", visit.failures),
    ];
  });
}

/** Every step of every visit as an event, in time order. */
export async function listEvents(db: Db): Promise<EventRow[]> {
  const { rows } = await sql<Omit<EventRow, "step">>`
    select visit.widget_id, visit.visit_id::text as visit_id, page.key as page,
      split_part(source.key, ' / ', 1) as source, split_part(source.key, ' / ', 2) as medium, campaign.key as campaign,
      channel.key as channel, device.key as device, country.key as country
    from funnel_visits visit
    ${sql.join(
      ["page", "source", "campaign", "channel", "device", "country"].map(
        (kind) => sql`join funnel_keys ${sql.ref(kind)} on ${sql.ref(`${kind}.organization_id`)} = visit.organization_id
          and ${sql.ref(`${kind}.id`)} = ${sql.ref(`visit.${kind}`)}`,
      ),
      sql` `,
    )}`.execute(db);
  const visits = new Map(rows.map((row) => [`${row.widget_id} ${row.visit_id}`, row]));
  return (await listTakenSteps(db))
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || compare(a.visit_id, b.visit_id) || compare(a.step, b.step))
    .flatMap(({ widget_id, visit_id, step }) => {
      const visit = visits.get(`${widget_id} ${visit_id}`);
      return visit ? [toEventRow(visit, step)] : [];
    });
}

function toEventRow({ widget_id, visit_id, ...keys }: Omit<EventRow, "step">, step: string): EventRow {
  return { widget_id, visit_id, step, ...keys };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Visits of all organizations. */
export async function countViews(db: Db): Promise<number> {
  const { rows } = await sql<{ views: number }>`select count(*) as views from funnel_visits`.execute(db);
  return Number(rows[0]?.views ?? 0);
}

/** Every row of every table, as PostgreSQL's text. */
export async function dumpDatabase(db: Db): Promise<string> {
  const tables = await sql<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ text: string }>`select row_.*::text as text from ${sql.raw(name)} row_`.execute(db);
    texts.push(...rows.map((row) => row.text));
  }
  return texts.join("\n");
}

/** One value in /metrics. */
export async function readOutcomes(app: FastifyInstance): Promise<Record<string, number>> {
  const { body } = await app.inject({ url: "/metrics" });
  const found = [...body.matchAll(/^bookflow_funnel_events_total\{outcome="([^"]+)"\} (\d+)$/gm)];
  return Object.fromEntries(found.map(([, outcome, count]) => [outcome, Number(count)]));
}
