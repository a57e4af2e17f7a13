import type { AuditAction } from "#contract/app/audit.ts";
import type { Audit } from "../../audit/audit.ts";
import type { AlongsideRedelivery } from "../log/redeliver.ts";
import type { Alongside } from "./endpoints.ts";
import { toEndpointName } from "./shown-url.ts";

/** Audits a change to an endpoint under the endpoint's current name. */
export function auditEndpoint(
  audit: Audit,
  action: AuditAction,
  detail: Record<string, string | number> = {},
): Alongside {
  return (transaction, endpoint, before = endpoint) =>
    audit(transaction, {
      action,
      target: endpoint.id,
      name: toEndpointName(endpoint),
      formerName: toEndpointName(before),
      detail,
    });
}

export function auditRetry(audit: Audit): AlongsideRedelivery {
  return auditDelivery(audit, "delivery.retried");
}

export function auditRedelivery(audit: Audit): AlongsideRedelivery {
  return auditDelivery(audit, "delivery.redelivered");
}

/** Names the delivery by its booking's reference, which is not personal data, and its endpoint. */
function auditDelivery(audit: Audit, action: AuditAction): AlongsideRedelivery {
  return (transaction, { id, reference, endpoint_url: url, endpoint_description: description }) =>
    audit(transaction, {
      action,
      target: id,
      name: reference ?? "Test event",
      detail: { endpoint: toEndpointName({ url, description }) },
    });
}
