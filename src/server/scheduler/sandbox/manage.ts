import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { toCells, toResources } from "./free-times.ts";
import { isSameSecret, parseLinkToken, toJoinUrl } from "./links.ts";
import { cancelAppointment, findAppointment, findSandbox, findWidgetOwner, moveAppointment } from "./queries.ts";
import { findFreeTimes, loadSandbox, type SandboxDeps, toName } from "./sandbox.ts";

// Reads and cancels appointments for the pages behind their links. The bearer of a token may see and cancel that one
// appointment, which contains no personal data.

export type ManagedAppointment = {
  readonly organizationId: OrganizationId;
  readonly widgetId: WidgetId;
  readonly reference: Reference;
  readonly businessName: string;
  readonly serviceName: string;
  readonly staffName: string;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly timeZone: string;
  readonly canceledAt: Date | null;
  /** Only for online appointments. */
  readonly joinUrl: string | null;
};

type ManageDeps = Pick<Deps, "db"> & { readonly baseUrl: string };

/** `/manage/{token}` */
export async function findByManageToken(deps: ManageDeps, token: string): Promise<ManagedAppointment | null> {
  return await findByToken(deps, { token, link: "manage_secret" });
}

/** `/meet/{token}` */
export async function findByJoinToken(deps: ManageDeps, token: string): Promise<ManagedAppointment | null> {
  return await findByToken(deps, { token, link: "join_secret" });
}

/** A wrong token is `not_found`. Cancelling twice, or after the start, changes nothing. */
export async function cancelByManageToken(
  deps: ManageDeps & Pick<Deps, "clock">,
  token: string,
): Promise<
  { kind: "canceled" | "already_canceled" | "already_begun"; appointment: ManagedAppointment } | { kind: "not_found" }
> {
  const appointment = await findByManageToken(deps, token);
  if (appointment === null) return { kind: "not_found" };
  const now = deps.clock.now();
  if (appointment.canceledAt === null && appointment.startAt <= now) return { kind: "already_begun", appointment };
  const isCanceled = await cancelAppointment(deps.db, appointment.organizationId, { ...appointment, now });
  return { kind: isCanceled ? "canceled" : "already_canceled", appointment };
}

async function findByToken(
  deps: ManageDeps,
  sought: { token: string; link: "manage_secret" | "join_secret" },
): Promise<ManagedAppointment | null> {
  const token = parseLinkToken(sought.token);
  const owner = token && (await findWidgetOwner(deps.db, token.widgetId));
  if (!owner) return null;
  const row = await findAppointment(deps.db, owner, token);
  if (row === null || !isSameSecret(token.secret, row[sought.link])) return null;
  const sandbox = await findSandbox(deps.db, owner, token.widgetId);
  if (sandbox === null) return null;
  const { setup, timeZone, businessName } = sandbox;
  return {
    organizationId: owner,
    widgetId: row.widget_id,
    reference: row.reference,
    businessName,
    serviceName: toName(setup.services, row.service_id),
    staffName: toName(setup.staff, row.staff_id),
    startAt: row.start_at,
    endAt: row.end_at,
    timeZone,
    canceledAt: row.canceled_at,
    joinUrl: row.join_secret === null ? null : toJoinUrl(deps.baseUrl, { ...token, secret: row.join_secret }),
  };
}

// Gives an appointment another time. As in other systems, it gets another id and keeps its reference.

const OFFERED_DAYS = 14;

export async function listOtherTimes(deps: SandboxDeps, managed: ManagedAppointment): Promise<Date[]> {
  const now = deps.clock.now();
  const range = { from: now, to: new Date(now.getTime() + OFFERED_DAYS * DAY_MS) };
  const { sandbox, service } = await loadService(deps, managed);
  const slots = service ? await findFreeTimes(deps, managed, { sandbox, service, staffId: null, ...range }) : [];
  return slots.map(({ startAt }) => startAt);
}

/** A wrong token is `not_found`. What is cancelled or has begun stays as it is. */
export async function moveByManageToken(
  deps: SandboxDeps,
  token: string,
  startAt: Date,
): Promise<{ kind: "moved" | "taken" | "over"; appointment: ManagedAppointment } | { kind: "not_found" }> {
  const appointment = await findByManageToken(deps, token);
  if (appointment === null) return { kind: "not_found" };
  if (appointment.canceledAt !== null || appointment.startAt <= deps.clock.now()) return { kind: "over", appointment };
  const { sandbox, service, row } = await loadService(deps, appointment);
  if (!service) return { kind: "taken", appointment };
  const range = { from: startAt, to: new Date(startAt.getTime() + 1) };
  const [slot] = await findFreeTimes(deps, appointment, { sandbox, service, staffId: null, ...range });
  if (!slot) return { kind: "taken", appointment };
  const staffId = slot.staffIds.includes(row.staff_id) ? row.staff_id : (slot.staffIds[0] ?? row.staff_id);
  const { startAt: start_at, endAt: end_at } = slot;
  const outcome = await moveAppointment(deps.db, appointment.organizationId, {
    row: { ...row, id: randomUuid(deps.random), staff_id: staffId, start_at, end_at },
    resources: toResources({ service, staffId }),
    cells: toCells(service, start_at),
  });
  return { kind: outcome === "gone" ? "over" : outcome, appointment };
}

async function loadService(deps: SandboxDeps, managed: ManagedAppointment) {
  const row = await findAppointment(deps.db, managed.organizationId, managed);
  assert(row, "an appointment that was just read exists");
  const sandbox = await loadSandbox(deps, managed);
  return { row, sandbox, service: sandbox.setup.services.find(({ id }) => id === row.service_id) };
}
