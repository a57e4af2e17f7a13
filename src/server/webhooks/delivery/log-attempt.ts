import type { Deps } from "../../deps.ts";
import type { LoadedDelivery } from "../queue/load.ts";
import type { Delivered } from "./deliver.ts";

export function logAttempt(
  { metrics, log }: Pick<Deps, "metrics" | "log">,
  { kind, organizationId, endpointId, deliveryId, attemptNumber }: LoadedDelivery,
  { report, operatorFault }: Delivered,
): void {
  metrics.deliveryAttempts.inc({ kind, result: report.result, error: report.errorCode ?? "none" });
  if (report.durationMs !== null) metrics.deliveryDuration.observe({ kind }, report.durationMs / 1000);
  if (report.state === "delivered" || report.state === "failed")
    metrics.deliveriesEnded.inc({ kind, outcome: report.state });
  if (operatorFault) log.error(`delivery.${operatorFault}`, { deliveryId, endpointId });
  log.info("delivery.attempted", {
    organizationId,
    deliveryId,
    endpointId,
    attemptNumber,
    outcome: report.result,
    ...(report.status === null ? {} : { status: report.status }),
    ...(report.errorCode === null ? {} : { errorCode: report.errorCode }),
    ...(report.durationMs === null ? {} : { durationMs: report.durationMs }),
    ...(report.nextAttemptAt === null ? {} : { nextAttemptAt: report.nextAttemptAt.toISOString() }),
  });
}
