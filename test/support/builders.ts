import type { Updateable } from "kysely";
import { type ApiKeyId, ORGANIZATION_ID, type OrganizationId, WIDGET_ID, type WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { KEY_SCOPES_DEFAULT, type KeyScope } from "#contract/scopes.ts";
import type { WidgetStatus } from "#contract/widgets/widget.ts";
import { makeKey as makeApiKey } from "../../src/server/api-keys/make-key.ts";
import { type NewBooking, storeBooking } from "../../src/server/bookings/flow/keep-booking.ts";
import { takeReference } from "../../src/server/bookings/flow/reference.ts";
import type { Db } from "../../src/server/db/connections/pool.ts";
import { inHome } from "../../src/server/db/statements/transactions.ts";
import type { WidgetsTable } from "../../src/server/db/tables/tables.ts";
import { randomId, systemRandom } from "../../src/server/lib/secrets/random.ts";
import { insertOrganization } from "../../src/server/organizations/queries.ts";
import { insertWidget } from "../../src/server/widgets/queries.ts";

// Builders take only what a test needs; everything else has a plain default.

export const NOON = new Date("2026-11-01T12:00:00.000Z");

export async function makeOrganization(
  db: Db,
  {
    id = makeOrganizationId(),
    ...options
  }: { id?: OrganizationId; plan?: Plan; timeZone?: string; name?: string } = {},
): Promise<OrganizationId> {
  await insertOrganization(db, {
    id,
    name: options.name ?? "Lindenhof Dental",
    plan: options.plan ?? "business",
    time_zone: options.timeZone ?? null,
    created_at: NOON,
  });
  return id;
}

export function makeOrganizationId(): OrganizationId {
  return randomId<OrganizationId>(systemRandom, ORGANIZATION_ID);
}

const owners = new Map<WidgetId, OrganizationId>();

/** The organization the widget belongs to, if it was created here. */
export function ownerOf(widget: WidgetId): OrganizationId {
  return owners.get(widget) ?? ("org_1111111111111111" as OrganizationId);
}

export async function makeWidget(
  db: Db,
  owner: OrganizationId,
  options: { name?: string; status?: WidgetStatus; collectData?: boolean; createdAt?: Date; bookingUrl?: string } = {},
): Promise<WidgetId> {
  const id = randomId<WidgetId>(systemRandom, WIDGET_ID);
  owners.set(id, owner);
  await insertWidget(db, {
    id,
    organization_id: owner,
    name: options.name ?? "Website",
    business_name: "Lindenhof",
    booking_url: options.bookingUrl ?? null,
    template: "classic",
    status: options.status ?? "active",
    collect_data: options.collectData ?? true,
    created_at: options.createdAt ?? NOON,
  });
  return id;
}

export async function updateWidget(db: Db, id: WidgetId, change: Updateable<WidgetsTable>): Promise<void> {
  await db.updateTable("widgets").set(change).where("id", "=", id).execute();
}

export async function makeKey(
  db: Db,
  owner: OrganizationId,
  options: { expiresAt?: Date; scopes?: readonly KeyScope[]; networks?: readonly string[] } = {},
): Promise<{ id: ApiKeyId; key: string }> {
  const { expiresAt = null, scopes = KEY_SCOPES_DEFAULT, networks = [] } = options;
  const key = { name: "Warehouse", scopes, networks, createdBy: null, expiresAt, now: NOON };
  return await makeApiKey({ db, random: systemRandom }, owner, key);
}

/** Stores a booking as the booking flow does, at the instant `now`. */
export async function makeBooking(
  db: Db,
  owner: OrganizationId,
  options: { widgetId: WidgetId; now?: Date } & Partial<Omit<NewBooking, "widget_id">>,
): Promise<{ reference: string; createdAt: Date }> {
  const { widgetId, now = NOON, ...columns } = options;
  const reference = columns.reference ?? (await takeReference(db, owner, systemRandom));
  return await inHome(db, owner, async (transaction) => {
    const booking: NewBooking = {
      widget_id: widgetId,
      status: "confirmed",
      start_at: new Date("2026-11-05T09:00:00.000Z"),
      end_at: new Date("2026-11-05T09:30:00.000Z"),
      time_zone: "Europe/Berlin",
      service_id: "svc-1",
      service_name: "Check-up",
      staff: JSON.stringify([{ id: "st-1", name: "Dr. Ada Winter" }]),
      customer_name: "Mara Quell",
      customer_email: "mara.quell@example.com",
      customer_phone: null,
      customer_notes: null,
      answers: "[]",
      attribution: "{}",
      external_id: null,
      manage_url: null,
      join_url: null,
      ...columns,
      reference,
    };
    return { reference, createdAt: await storeBooking({ clock: { now: () => now } }, transaction, { owner, booking }) };
  });
}
