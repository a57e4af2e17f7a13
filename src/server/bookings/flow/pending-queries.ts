import { sql } from "kysely";
import { HOUR_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { BookResponse } from "#contract/widgets/embed-api.ts";
import type { WidgetStatus } from "#contract/widgets/widget.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome, table, writeAtHome } from "../../db/home.ts";
import { isDue } from "../../db/statements/is-due.ts";
import { assert } from "../../lib/assert.ts";

// Booking requests: unsettled ones, and settled ones for a day. See pending_bookings in schema.sql.

/** `lost`: the scheduling system never said what became of the request, and no appointment was found in half an hour. */
export type BookingFailure = "slot_taken" | "refused" | "unavailable" | "lost";

/** The hit that the outcome is counted with, as JSON carries it. */
export type PendingHit = {
  visitId: string;
  page: string;
  source: string;
  medium: string;
  campaign: string;
  channel: string;
  device: string;
  country: string;
};

/** The customer's side of a stored booking. Personal, so it is null unless the widget stores bookings. */
export type PendingCopy = {
  timeZone: string;
  customer: { name: string; email: string; phone: string | null; notes: string | null };
  answers: { questionId: string; question: string; answer: string }[];
  attribution: Record<string, unknown>;
};

export type PendingBooking = {
  organization_id: OrganizationId;
  reference: Reference;
  widget_id: WidgetId;
  asked_in: ConnectionId | "sandbox";
  service_id: string;
  start_at: Date;
  state: "asking" | "confirmed" | "failed";
  look_ups: number;
  hit: PendingHit;
  copy: PendingCopy | null;
  failure: BookingFailure | null;
  /** What a repeated key gets. Recorded only with a stored booking, until that is deleted. */
  response: BookResponse | null;
  /** The customer, or the stored booking, was deleted. */
  erased: boolean;
};

/** Two columns are older than the words of the glossary: `touch` holds a hit, and `answer` a response. */
const COLUMNS = sql`organization_id, reference, widget_id, asked_in, service_id, start_at, state, look_ups, touch as hit,
  copy, failure, answer as response, erased`;

/**
 * Inserts a request if its widget takes bookings, with the copy only if it stores them. Locks the widget's switches, so nothing is booked
 * or kept against a change that was acknowledged. Null if the widget was deleted. `isNew` is false if the widget doesn't take bookings, if
 * the key was already used for it, or if an earlier request of the visit for the service is unsettled.
 */
export async function insertPending(
  db: Db,
  owner: OrganizationId,
  pending: Pick<PendingBooking, "reference" | "widget_id" | "asked_in" | "service_id" | "start_at" | "hit" | "copy"> & {
    keyHash: Buffer;
    visitHash: Buffer;
    askingUntil: Date;
    now: Date;
  },
): Promise<{ status: WidgetStatus; isNew: boolean } | null> {
  const { hit, copy } = pending;
  const statement = sql<{ status: WidgetStatus; isNew: boolean }>`-- prepared: insert_pending
    with switches as (
      select status, collect_data from ${table("widgets")}
      where organization_id = ${owner} and id = ${pending.widget_id} for share
    ), inserted as (
      insert into ${table("pending_bookings")} (organization_id, reference, widget_id, asked_in, key_hash, visit_hash,
        service_id, start_at, state, asking_until, touch, copy, created_at)
      select ${owner}, ${pending.reference}::text, ${pending.widget_id}, ${pending.asked_in}::text, ${pending.keyHash}::bytea,
        ${pending.visitHash}::bytea, ${pending.service_id}::text, ${pending.start_at}::timestamptz, 'asking',
        ${pending.askingUntil}::timestamptz, ${JSON.stringify(hit)}::jsonb,
        case when collect_data then ${copy && JSON.stringify(copy)}::jsonb end, ${pending.now}::timestamptz
      from switches where status = 'active'
      on conflict do nothing
      returning reference
    )
    select status, exists (select from inserted) as "isNew" from switches`;
  const { rows } = await writeAtHome(db, owner, (home) => statement.execute(home));
  return rows[0] ?? null;
}

/** Records a request that must not be booked when it arrives. False if the key was already used for this widget. */
export async function insertAbandoned(
  db: Db,
  owner: OrganizationId,
  abandoned: Pick<PendingBooking, "reference" | "widget_id" | "asked_in" | "service_id" | "start_at"> & {
    keyHash: Buffer;
    now: Date;
  },
): Promise<boolean> {
  const failure: BookingFailure = "unavailable";
  const hour = toNextHour(abandoned.now);
  const statement = sql`
    insert into ${table("pending_bookings")} (organization_id, reference, widget_id, asked_in, key_hash, service_id, start_at, state,
      failure, asking_until, touch, created_at, settled_at)
    values (${owner}, ${abandoned.reference}, ${abandoned.widget_id}, ${abandoned.asked_in}, ${abandoned.keyHash},
      ${abandoned.service_id}, ${abandoned.start_at}, 'failed', ${failure}, ${hour}, '{}', ${hour}, ${hour})
    on conflict (organization_id, widget_id, key_hash) do nothing
    returning reference`;
  const { rows } = await writeAtHome(db, owner, (home) => statement.execute(home));
  return rows.length === 1;
}

/**
 * The earlier request that a new one must wait for or repeat: the one with the same key, or else the unsettled one of the same
 * visit for the same service.
 */
export async function findEarlier(
  db: Db,
  owner: OrganizationId,
  { widgetId, keyHash, visitHash }: { widgetId: WidgetId; keyHash: Buffer; visitHash: Buffer | null },
): Promise<{ reference: Reference; hasSameKey: boolean } | null> {
  const hasSameKey = sql`(widget_id = ${widgetId} and key_hash = ${keyHash})`;
  const statement = sql<{ reference: Reference; hasSameKey: boolean }>`
    select reference, ${hasSameKey} as "hasSameKey" from ${table("pending_bookings")}
    where organization_id = ${owner} and (${hasSameKey} or visit_hash = ${visitHash}::bytea)
    order by ${hasSameKey} desc limit 1`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows[0] ?? null;
}

export async function findPending(db: Db, owner: OrganizationId, reference: Reference): Promise<PendingBooking | null> {
  const statement = sql<PendingBooking>`
    select ${COLUMNS} from ${table("pending_bookings")}
    where organization_id = ${owner} and reference = ${reference}`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows[0] ?? null;
}

/**
 * Settles a request once. The process that asked and the task that looked it up may both get here: the first one writes the
 * outcome and its consequences in one transaction, the other gets null and does nothing.
 *
 * Store bookings has two gates, because it can be switched while a request is under way. insertPending writes the copy only if the
 * widget stores bookings then. This statement returns the copy, and keeps the response, only if the widget still does. Use this copy,
 * not one from memory: an erasure may have removed it meanwhile.
 *
 * The hit and the hash of the visit are deleted and all instants become whole hours, so that nothing leads from a booking to its visit,
 * which has the exact instant.
 *
 * Locks come in the order in which an organization is deleted (organizations/delete-organization.ts): its progress, so that its visits
 * can be recorded, the widget's switches, and the request.
 */
export async function settlePending(
  transaction: Db,
  owner: OrganizationId,
  outcome: { reference: Reference; widgetId: WidgetId; now: Date } & (
    | { state: "confirmed"; response: BookResponse }
    | { state: "failed"; failure: BookingFailure }
  ),
): Promise<Pick<PendingBooking, "copy" | "asked_in"> | null> {
  const { state } = outcome;
  const hour = toNextHour(outcome.now);
  const { rows } = await sql<Pick<PendingBooking, "copy" | "asked_in">>`-- prepared: settle_pending
    with progress as materialized (
      select from ${table("visit_progress")} where organization_id = ${owner} for share
    ), switches as materialized (
      select collect_data from ${table("widgets")} cross join progress
      where organization_id = ${owner} and id = ${outcome.widgetId} for share of widgets
    )
    update ${table("pending_bookings", "pending")} set state = ${state}, failure = ${state === "failed" ? outcome.failure : null},
      copy = null, touch = '{}', visit_hash = null, settled_at = ${hour}, created_at = ${hour}, asking_until = ${hour},
      answer = case when collect_data and copy is not null
        then ${state === "confirmed" ? JSON.stringify(outcome.response) : null}::jsonb end
    from progress left join switches on true
    where organization_id = ${owner} and reference = ${outcome.reference} and state = 'asking'
    returning case when collect_data then old.copy end as copy, old.asked_in`.execute(transaction);
  return rows[0] ?? null;
}

function toNextHour(instant: Date): Date {
  return new Date(Math.ceil(instant.getTime() / HOUR_MS) * HOUR_MS);
}

/** Deletes a request whose scheduling system was never asked, if it was written. */
export async function deleteAsking(db: Db, owner: OrganizationId, reference: Reference): Promise<void> {
  const statement = sql`
    delete from ${table("pending_bookings")}
    where organization_id = ${owner} and reference = ${reference} and state = 'asking'`;
  await writeAtHome(db, owner, (home) => statement.execute(home));
}

/** Leaves a request whose outcome is uncertain to the task, from this instant on. */
export async function releaseAsking(
  db: Db,
  owner: OrganizationId,
  { reference, askingUntil }: { reference: Reference; askingUntil: Date },
): Promise<void> {
  const statement = sql`
    update ${table("pending_bookings")} set asking_until = ${askingUntil}
    where organization_id = ${owner} and reference = ${reference} and state = 'asking'`;
  await writeAtHome(db, owner, (home) => statement.execute(home));
}

/**
 * Claims requests of a shard group that are due to be looked for, and counts the look-ups. `next` says when each is followed by another.
 * Of two workers that find the same request, the second one waits for the first and then no longer finds it due.
 */
export async function takeOverdueAcrossOrganizations(
  home: Db,
  claim: { now: Date; longestMs: number; next: readonly Date[]; limit: number },
): Promise<PendingBooking[]> {
  const isOverdue = sql`state = 'asking' and ${isDue("asking_until", claim)}`;
  const { rows } = await sql<PendingBooking>`
    update ${table("pending_bookings")} set look_ups = look_ups + 1,
      asking_until = (${claim.next}::timestamptz[])[least(look_ups + 1, ${claim.next.length}::integer)]
    where (organization_id, reference) in (
      select organization_id, reference from ${table("pending_bookings")} where ${isOverdue} order by asking_until limit ${claim.limit}
    ) and ${isOverdue} returning ${COLUMNS}`.execute(home);
  return rows;
}

type SettledPending = Pick<PendingBooking, "organization_id" | "reference" | "failure">;

/** In one shard group. */
export async function deleteSettledPendingAcrossOrganizations(
  home: Db,
  batch: { settledBefore: Date; limit: number },
): Promise<SettledPending[]> {
  const { rows } = await sql<SettledPending>`
    delete from ${table("pending_bookings")} where (organization_id, reference) in (
      select organization_id, reference from ${table("pending_bookings")}
      where state <> 'asking' and settled_at < ${batch.settledBefore}
      order by settled_at limit ${batch.limit}
    ) and state <> 'asking' returning organization_id, reference, failure`.execute(home);
  return rows;
}

type UnsettledMeasure = { count: number; oldest_seconds: number };

/** Served by the index pending_bookings_asking. */
export async function measureUnsettledAcrossOrganizations(db: Db, now: Date): Promise<UnsettledMeasure> {
  const { rows } = await sql<UnsettledMeasure>`
    select count(*)::float8 as count,
      greatest(0, coalesce(extract(epoch from ${now}::timestamptz - min(created_at)), 0))::float8 as oldest_seconds
    from pending_bookings where state = 'asking'`.execute(db);
  const [row] = rows;
  assert(row, "a select without group by gives one row");
  return row;
}
