import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { WidgetId } from "#contract/ids.ts";
import type { Db } from "../../src/server/db/pool.ts";

export const DESKTOP =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";

/** A body as the booking frame sends it. */
export function eventsBody(about: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    visitId: randomUUID(),
    page: "https://www.lindenhof.example/booking",
    attribution: {},
    events: [{ step: "widget_viewed" }],
    ...about,
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

export async function listEvents(db: Db): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select widget_id, visit_id::text, step, page, source, medium, campaign, channel, device, country
    from funnel_events order by at, visit_id, step`.execute(db);
  return rows;
}

/** Views of all the organization's widgets, by the counters that analytics reads. */
export async function countViews(db: Db): Promise<number> {
  const { rows } = await sql<{ views: number }>`
    select coalesce(sum(reached_1 + reached_2 + reached_3 + reached_4 + reached_5 + reached_6), 0) as views
    from funnel_days where widget_id = ''`.execute(db);
  return rows[0]?.views ?? 0;
}

/** Every row of every table, as PostgreSQL writes rows as text. */
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

/** One value of /metrics. */
export async function readOutcomes(app: FastifyInstance): Promise<Record<string, number>> {
  const { body } = await app.inject({ url: "/metrics" });
  const found = [...body.matchAll(/^bookflow_funnel_events_total\{outcome="([^"]+)"\} (\d+)$/gm)];
  return Object.fromEntries(found.map(([, outcome, count]) => [outcome, Number(count)]));
}
