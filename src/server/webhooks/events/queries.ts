import { sql } from "kysely";
import type { OrganizationId, WebhookEventId } from "#contract/ids.ts";
import type { ChosenEventType } from "#contract/webhooks/endpoint.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome, table } from "../../db/home.ts";
import { inHome } from "../../db/statements/transactions.ts";
import { assert } from "../../lib/assert.ts";

// Events in commit order, for programs that read them. An event's `created` is not in that order: a transaction may commit
// seconds after it began. So an event gets its listedAt once it is committed, by whoever reads events next, and storing a booking
// waits for nothing. listedAt is unique within an organization, and the row of event_clocks stays locked until it is committed. So
// whoever has read everything up to last_listed_at never misses an event with an earlier listedAt.

/** Events that one transaction lists. */
export const LISTED_MAX = 1_000;

/** Lists committed events that have no listedAt yet, and returns how many. Locked ones are left for the next reader. */
export async function listNewEvents(db: Db, owner: OrganizationId, now: Date): Promise<number> {
  return await inHome(db, owner, async (transaction) => {
    const { rows } = await sql<{ id: WebhookEventId }>`
      select id from ${table("webhook_events")} where organization_id = ${owner} and listed_at is null
      order by created_at, id limit ${LISTED_MAX} for update skip locked`.execute(transaction);
    if (rows.length === 0) return 0;
    const lastAt = await advanceClock(transaction, owner, { count: rows.length, now });
    const firstMs = lastAt.getTime() - rows.length + 1;
    await sql`
      update ${table("webhook_events")} set listed_at = listed.at
      from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map((_, place) => new Date(firstMs + place))}::timestamptz[])
        as listed (id, at)
      where webhook_events.organization_id = ${owner} and webhook_events.id = listed.id`.execute(transaction);
    return rows.length;
  });
}

/** The last of `count` consecutive milliseconds, all later than those of any event before. */
async function advanceClock(
  transaction: Db,
  owner: OrganizationId,
  { count, now }: { count: number; now: Date },
): Promise<Date> {
  const first = new Date(now.getTime() + count - 1);
  const { rows } = await sql<{ at: Date }>`
    insert into ${table("event_clocks", "clock")} (organization_id, last_listed_at) values (${owner}, ${first})
    on conflict (organization_id) do update set last_listed_at = greatest(excluded.last_listed_at,
      (clock.last_listed_at at time zone 'UTC' + ${count}::integer * interval '1 millisecond') at time zone 'UTC')
    returning last_listed_at as at`.execute(transaction);
  assert(rows[0], "an upsert returns its row");
  return rows[0].at;
}

/** How far events are listed, null if none ever was, and whether there are events that are not. */
export async function readListing(
  db: Db,
  owner: OrganizationId,
): Promise<{ listedUntil: Date | null; hasUnlisted: boolean }> {
  const statement = sql<{ listedUntil: Date | null; hasUnlisted: boolean }>`
    select (select last_listed_at from ${table("event_clocks")} where organization_id = ${owner}) as "listedUntil",
      exists (select from ${table("webhook_events")} where organization_id = ${owner} and listed_at is null) as "hasUnlisted"
    from ${table("organizations")} where id = ${owner}`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows[0] ?? { listedUntil: null, hasUnlisted: false };
}

export type EventFilter = {
  types: readonly ChosenEventType[];
  /** Inclusive, by the event's `created`. */
  createdFrom: Date;
  /** Exclusive; null: from the first one. */
  listedAfter: Date | null;
  /** Inclusive. */
  listedUntil: Date;
  limit: number;
};

/** Oldest first. The bodies are JSON; those of erased bookings are gone. */
export async function selectListedEvents(
  db: Db,
  owner: OrganizationId,
  filter: EventFilter,
): Promise<{ body: Buffer; listedAt: Date }[]> {
  const statement = sql<{ body: Buffer; listedAt: Date }>`
    select body, listed_at as "listedAt" from ${table("webhook_events")}
    where organization_id = ${owner} and listed_at > ${filter.listedAfter ?? "-infinity"}::timestamptz
      and listed_at <= ${filter.listedUntil} and created_at >= ${filter.createdFrom}
      and type = any(${filter.types as ChosenEventType[]}::text[]) and body is not null
    order by listed_at limit ${filter.limit}`;
  return (await readAtHome(db, owner, (home) => statement.execute(home))).rows;
}
