import type { AuditAction } from "#contract/app/audit.ts";
import type { Audit } from "../../audit/audit-by.ts";
import type { AlongsideRedelivery } from "../log/redeliver.ts";
import type { Alongside } from "./endpoints.ts";
import { toEndpointName } from "./shown-url.ts";

/** Writes down what somebody does to an endpoint, under the name that it has then. */
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

/** A delivery is known by the reference of its booking, which says nothing about the customer, and by where it went. */
export function auditRedelivery(audit: Audit): AlongsideRedelivery {
  return (transaction, { id, reference, endpoint_url: url, endpoint_description: description }) =>
    audit(transaction, {
      action: "delivery.redelivered",
      target: id,
      name: reference ?? "Test event",
      detail: { endpoint: toEndpointName({ url, description }) },
    });
}
