import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import * as calcom from "../calcom/notices.ts";
import * as calendly from "../calendly/notices.ts";
import { parseJson } from "../outbound.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import { toSealId } from "./keep-subscriptions.ts";
import type { SignedNotice } from "./signature.ts";
import { findSubscriptionSecret } from "./subscription-queries.ts";

type OpenedNotice =
  | { readonly kind: "opened"; readonly externalIds: readonly string[] }
  /** Not signed with the secret of this connection. */
  | { readonly kind: "forged" }
  /** The connection doesn't exist, or nothing was subscribed for it. */
  | { readonly kind: "unexpected" };

/** The ids of the appointments that a notice is about. Nothing else of it is used: it has the customer's data. */
export async function openNotice(
  deps: Pick<OpenDeps, "db" | "scheduler">,
  owner: OrganizationId,
  { id, ...notice }: Omit<SignedNotice, "secret"> & { id: ConnectionId },
): Promise<OpenedNotice> {
  const found = await findSubscriptionSecret(deps.db, owner, id);
  const secret = found && deps.scheduler.sealer.open(toSealId(id), found.sealed);
  if (!found || secret === null) return { kind: "unexpected" };
  const system = SYSTEMS[found.kind];
  if (!system?.isSigned({ ...notice, secret })) return { kind: "forged" };
  return { kind: "opened", externalIds: system.listNoticed(parseJson(notice.body)) };
}

type NoticeReader = {
  readonly isSigned: (notice: SignedNotice) => boolean;
  readonly listNoticed: (notice: unknown) => readonly string[];
};

const SYSTEMS: Readonly<Record<ConnectionKind, NoticeReader | null>> = { calcom, calendly, "microsoft-bookings": null };
