import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ImportedBooking } from "#contract/imported-lines.ts";
import { KEY_SCOPES_DEFAULT } from "#contract/scopes.ts";
import { createUser, findUserByEmail, hashPassword, insertMember } from "../accounts/accounts.ts";
import { type Hit, recordHits } from "../analytics/analytics.ts";
import { describeKey, makeKey } from "../api-keys/api-keys.ts";
import { auditByOperator } from "../audit/audit.ts";
import { importBookings } from "../bookings/bookings.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import { assert } from "../lib/assert.ts";
import type { TextLine } from "../lib/text/text-lines.ts";
import { deleteOrganization, findOrganization, insertOrganization } from "../organizations/organizations.ts";
import { insertSandbox } from "../scheduler/scheduler.ts";
import { openLivePeriod } from "../test-mode/test-mode.ts";
import { insertWidget } from "../widgets/widgets.ts";
import { changeBookings, findStart, keepAppointments, toUpcoming } from "./appointments.ts";
import { DEMO_ID, DEMO_KEY_NAME, DEMO_NAME, DEMO_PEOPLE, DEMO_WIDGETS, DEMO_ZONE, OWNER } from "./clinic.ts";
import { readCredentials, readKeyRandom } from "./credentials.ts";
import { deleteStrandedUsers, hasMembers } from "./queries.ts";
import { DEMO_DAYS, makeTraffic } from "./traffic.ts";

// The demo is loaded through the same code that everyone uses: widgets as on the command line, bookings by the import, visits by the
// recorder. People come last, so a demo without people is one whose loading was interrupted; it is loaded again.

type LoadDeps = Pick<Deps, "db" | "clock" | "random" | "config">;

type LoadOutcome =
  | { kind: "loaded"; visits: number; bookings: number }
  | { kind: "there_already" }
  /** This address already belongs to someone outside the demo. */
  | { kind: "address_taken"; email: string }
  | { kind: "refused"; fault: string };

/** Hits per statement. Fewer take longer, more gain nothing (measured). */
const BATCH_HITS = 1_000;
/** Statements at a time. One prepares its hits while PostgreSQL records those of the other. */
const RECORDERS = 2;

export async function loadDemo(deps: LoadDeps): Promise<LoadOutcome> {
  if (await findOrganization(deps.db, DEMO_ID)) {
    if (await hasMembers(deps.db, DEMO_ID)) return { kind: "there_already" };
    await clearDemo(deps);
  }
  for (const { email } of DEMO_PEOPLE)
    if (await findUserByEmail(deps.db, email)) return { kind: "address_taken", email };
  try {
    const outcome = await fill(deps);
    if (outcome.kind !== "loaded") await clearDemo(deps);
    return outcome;
  } catch (error) {
    await clearDemo(deps);
    throw error;
  }
}

async function fill(deps: LoadDeps): Promise<LoadOutcome> {
  const now = deps.clock.now();
  await makeOrganization(deps, new Date(now.getTime() - (DEMO_DAYS + 1) * DAY_MS));
  const visits = makeTraffic(now);
  const bookings = visits.flatMap((visit) => visit.bookings);
  const coming = bookings.filter((booking) => findStart(booking) > now).map((one) => toUpcoming(deps, one));
  const links = new Map(coming.map(({ reference, links }) => [reference as string, links]));
  const lines = bookings.map(({ line }): ImportedBooking => ({ ...line, ...links.get(line.reference) }));

  const stored = await importBookings(deps.db, DEMO_ID, {
    lines: toLines(lines),
    now,
    baseUrl: deps.config.baseUrl,
    progress: () => {},
  });
  if ("fault" in stored) return { kind: "refused", fault: stored.fault };
  const hits = visits.flatMap((visit) => visit.hits);
  await recordHistory(deps, hits, now);
  await keepAppointments(deps, coming);
  await changeBookings(deps, bookings);
  await addPeople(deps);
  return { kind: "loaded", visits: visits.length, bookings: stored.imported };
}

async function makeOrganization(deps: LoadDeps, at: Date): Promise<void> {
  await inTransaction(deps.db, async (transaction) => {
    const organization = {
      id: DEMO_ID,
      name: DEMO_NAME,
      plan: "business",
      time_zone: DEMO_ZONE,
      created_at: at,
    } as const;
    await insertOrganization(transaction, organization);
    const { id: target, name, plan } = organization;
    await auditByOperator(
      deps,
      DEMO_ID,
      at,
    )(transaction, { action: "organization.created", target, name, detail: { plan } });
    for (const [index, widget] of DEMO_WIDGETS.entries()) {
      // The first of the list is the newest, so it comes first in every list of widgets.
      const createdAt = new Date(at.getTime() + (DEMO_WIDGETS.length - index) * MINUTE_MS);
      await insertWidget(transaction, {
        id: widget.id,
        organization_id: DEMO_ID,
        name: widget.name,
        business_name: widget.businessName,
        booking_url: null,
        template: widget.template,
        status: widget.pausedDaysAgo === null ? "active" : "paused",
        collect_data: widget.storesBookings,
        accent_color: widget.accentColor,
        created_at: createdAt,
      });
      const audit = auditByOperator(deps, DEMO_ID, createdAt);
      await audit(transaction, { action: "widget.created", target: widget.id, name: widget.name });
      await insertSandbox(transaction, DEMO_ID, { widgetId: widget.id, setup: widget.setup, now: createdAt });
      await openLivePeriod(transaction, DEMO_ID, { widgetId: widget.id, now: createdAt });
    }
  });
}

async function recordHistory({ db }: LoadDeps, hits: readonly Hit[], now: Date): Promise<void> {
  const size = Math.ceil(hits.length / RECORDERS);
  const recordFrom = async (start: number) => {
    const end = Math.min(start + size, hits.length);
    for (let first = start; first < end; first += BATCH_HITS)
      await recordHits(db, hits.slice(first, Math.min(first + BATCH_HITS, end)), { includePaused: true, now });
  };
  await Promise.all(Array.from({ length: RECORDERS }, (_, index) => recordFrom(index * size)));
}

async function* toLines(values: readonly unknown[]): AsyncGenerator<readonly TextLine[]> {
  for (const value of values) yield [{ text: JSON.stringify(value) }];
}

async function addPeople(deps: LoadDeps): Promise<void> {
  const { config, clock } = deps;
  const { password } = await readCredentials(deps, config);
  const passwordHash = await hashPassword(deps, password);
  const keyRandom = await readKeyRandom(deps, config);
  const at = clock.now();
  const audit = auditByOperator(deps, DEMO_ID, at);
  await inTransaction(deps.db, async (db) => {
    for (const { name, email, role } of DEMO_PEOPLE) {
      const user = await createUser({ ...deps, db }, { name, email, passwordHash, isEmailProven: true });
      assert(user, "the address was free a moment ago");
      const member = { organization_id: DEMO_ID, user_id: user.userId, role, created_at: at, last_used_at: null };
      await insertMember(db, member);
      await audit(db, { action: "member.added", target: email, detail: { role } });
    }
    const limits = { scopes: KEY_SCOPES_DEFAULT, networks: [], expiresAt: null };
    const key = { name: DEMO_KEY_NAME, ...limits, createdBy: OWNER.email, now: at };
    const { id } = await makeKey({ db, random: keyRandom }, DEMO_ID, key);
    await audit(db, { action: "api_key.created", target: id, ...describeKey(key) });
  });
}

/** Deletes the demo organization with all its rows and people, and nothing else. False if there is none. */
export async function clearDemo({ db }: Pick<Deps, "db">): Promise<boolean> {
  return await inTransaction(db, async (transaction) => {
    const isDeleted = await deleteOrganization(transaction, DEMO_ID);
    await deleteStrandedUsers(
      transaction,
      DEMO_PEOPLE.map(({ email }) => email),
    );
    return isDeleted;
  });
}
