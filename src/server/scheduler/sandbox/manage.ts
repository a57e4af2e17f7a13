import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { isSameSecret, parseLinkToken, toJoinUrl } from "./links.ts";
import { cancelAppointment, findAppointment, findSandbox, findWidgetOwner } from "./queries.ts";
import { toName } from "./sandbox.ts";

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
