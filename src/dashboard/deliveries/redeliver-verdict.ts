import type { AppDelivery } from "#contract/app/deliveries.ts";
import { isPending } from "../api/deliveries.ts";
import type { Verdict } from "../can.ts";
import type { OrganizationScope } from "../shell/use-organization.ts";

/** Whether a delivery can be redelivered, by the same rules as server/webhooks/log/redeliver.ts. */
export function redeliverVerdict(can: OrganizationScope["can"], delivery: AppDelivery): Verdict {
  const verdict = can("redeliver");
  if (!verdict.isAllowed) return verdict;
  if (delivery.isErased) return refuse("The booking was erased, so there is nothing left to send.");
  if (delivery.endpoint.isRemoved) return refuse("The endpoint was deleted.");
  if (isPending(delivery)) return refuse("Already queued.");
  return verdict;
}

/** Whether a delivery that is retrying can be retried now, by the same rules as server/webhooks/log/retry.ts. */
export function retryVerdict(can: OrganizationScope["can"], delivery: AppDelivery): Verdict {
  const verdict = can("retryDelivery");
  if (!verdict.isAllowed) return verdict;
  return delivery.isInFlight ? refuse("Already being sent.") : verdict;
}

function refuse(reason: string): Verdict {
  return { isAllowed: false, reason };
}
