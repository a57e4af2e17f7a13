import { sql } from "kysely";
import type { ConnectionId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome, table, writeAtHome } from "../../db/home.ts";
import { isDue } from "../../db/statements/is-due.ts";
import { runPrepared } from "../../db/statements/run-prepared.ts";

// Appointments to be read in their scheduling system. One process at a time reads an appointment: `due_at` is then the end of its
// lease. If something happens meanwhile, the appointment is due again at once, and what was read doesn't count.

export type Check = { organizationId: OrganizationId; reference: Reference; dueAt: Date; tries: number };

const CHECK = sql`organization_id as "organizationId", reference, due_at as "dueAt", tries`;

/** References of bookings that the connection made. */
export async function findReferences(
  db: Db,
  owner: OrganizationId,
  { id, externalIds }: { id: ConnectionId; externalIds: readonly string[] },
): Promise<Reference[]> {
  const statement = sql<{ reference: Reference }>`
    select reference from ${table("bookings")}
    where organization_id = ${owner} and external_id = any(${externalIds as string[]}::text[]) and asked_in = ${id}`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows.map(({ reference }) => reference);
}

/** Nothing happens for a booking that doesn't exist. */
export async function markDue(
  db: Db,
  owner: OrganizationId,
  { references, now }: { references: readonly Reference[]; now: Date },
): Promise<void> {
  const statement = sql`
    insert into ${table("appointment_checks", "known")} (organization_id, reference, due_at)
    select organization_id, reference, ${now} from ${table("bookings")}
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])
    order by reference
    on conflict (organization_id, reference) do update set due_at = least(known.due_at, excluded.due_at), tries = 0`;
  await writeAtHome(db, owner, (home) => statement.execute(home));
}

/** Leases a shard group's due checks until `leaseUntil`, and at most `share` of an organization. Two processes never get the same one. */
export async function claimDueChecksAcrossOrganizations(
  home: Db,
  {
    leaseUntil,
    limit,
    share,
    ...time
  }: { now: Date; longestMs: number; leaseUntil: Date; limit: number; share: number },
): Promise<Check[]> {
  const { rows: found } = await sql<Check>`
    select ${CHECK} from (
      select organization_id, reference, due_at, tries,
        row_number() over (partition by organization_id order by due_at) as position
      from ${table("appointment_checks")} where ${isDue("due_at", time)}
    ) as due where position <= ${share} order by position, due_at limit ${limit}`.execute(home);
  return await claim(home, found, leaseUntil);
}

/** Null if another process reads it at the moment. */
export async function claimOne(
  db: Db,
  key: Pick<Check, "organizationId" | "reference">,
  { now, leaseUntil }: { now: Date; leaseUntil: Date },
): Promise<Check | null> {
  const { organizationId: owner, reference } = key;
  const [claimed] = await writeAtHome(db, owner, async (home) => {
    const { rows: found } = await sql<Check>`
      select ${CHECK} from ${table("appointment_checks")}
      where organization_id = ${owner} and reference = ${reference} and due_at <= ${now}`.execute(home);
    return await claim(home, found, leaseUntil);
  });
  return claimed ?? null;
}

/** Only rows that are as they were found. */
async function claim(home: Db, found: readonly Check[], leaseUntil: Date): Promise<Check[]> {
  const { rows } = await sql<Check>`
    update ${table("appointment_checks")} set due_at = ${leaseUntil}, tries = tries + 1
    where (organization_id, reference, due_at) in (
      select owner, key, due from unnest(${found.map(({ organizationId }) => organizationId)}::text[],
        ${found.map(({ reference }) => reference)}::text[], ${found.map(({ dueAt }) => dueAt)}::timestamptz[]) as found (owner, key, due)
    ) returning ${CHECK}`.execute(home);
  return rows;
}

/** False if the lease is over, or the appointment is due again: then what was read may be old. */
export async function finishCheck(db: Db, { organizationId, reference, dueAt }: Check): Promise<boolean> {
  const statement = sql`
    delete from ${table("appointment_checks")}
    where organization_id = ${organizationId} and reference = ${reference} and due_at = ${dueAt} returning reference`;
  const { rows } = await writeAtHome(db, organizationId, (home) => statement.execute(home));
  return rows.length === 1;
}

export async function postponeCheck(db: Db, { organizationId, reference, dueAt }: Check, until: Date): Promise<void> {
  const statement = sql`
    update ${table("appointment_checks")} set due_at = ${until}
    where organization_id = ${organizationId} and reference = ${reference} and due_at = ${dueAt}`;
  await writeAtHome(db, organizationId, (home) => statement.execute(home));
}

/** Another account would say of every appointment that it is gone. */
export const isOfFormerAccount = sql<boolean>`exists (
  select from ${table("scheduling_connections", "c")}
  where c.organization_id = bookings.organization_id and c.id = bookings.asked_in and c.account_since > bookings.created_at
)`;

export type FollowedBooking = {
  widgetId: WidgetId;
  askedIn: ConnectionId | "sandbox" | null;
  externalId: string | null;
  serviceId: string;
  startAt: Date;
  storesBookings: boolean;
};

export async function findFollowed(
  db: Db,
  owner: OrganizationId,
  reference: Reference,
): Promise<FollowedBooking | null> {
  const statement = db
    .selectFrom("bookings")
    .innerJoin("widgets", (join) =>
      join
        .onRef("widgets.organization_id", "=", "bookings.organization_id")
        .onRef("widgets.id", "=", "bookings.widget_id"),
    )
    .select(["widget_id as widgetId", "asked_in as askedIn", "external_id as externalId"])
    .select(["service_id as serviceId", "start_at as startAt", "collect_data as storesBookings"])
    .where("bookings.organization_id", "=", owner)
    .where("reference", "=", reference)
    .where(({ not }) => not(isOfFormerAccount));
  const [row] = await readAtHome(db, owner, (home) => runPrepared(home, "find_followed", statement));
  return row ?? null;
}
