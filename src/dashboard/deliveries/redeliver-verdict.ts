import type { AppDelivery } from "#contract/app/deliveries.ts";
import { isUnderWay } from "../api/deliveries.ts";
import type { Verdict } from "../can.ts";
import type { OrganizationScope } from "../shell/use-organization.ts";

/** Whether a delivery can be sent once more, as server/webhooks/log/redeliver.ts decides it. */
export function redeliverVerdict(can: OrganizationScope["can"], delivery: AppDelivery): Verdict {
  const verdict = can("redeliver");
  if (!verdict.isAllowed) return verdict;
  if (isUnderWay(delivery)) return refuse("It waits, or is being sent, already.");
  if (delivery.endpoint.isRemoved) return refuse("Its endpoint was deleted.");
  if (delivery.isErased) return refuse("Its booking was erased; there is nothing left to send.");
  return verdict;
}

function refuse(reason: string): Verdict {
  return { isAllowed: false, reason };
}
