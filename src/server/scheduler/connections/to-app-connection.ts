import type { AppConnection, VerifiedConnection } from "#contract/app/connections.ts";
import type { Failure, Verified } from "../scheduling-system.ts";
import type { ConnectionRow } from "./queries.ts";

export function toAppConnection(row: ConnectionRow, widgetCount: number): AppConnection {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    // Written by us, as an object of texts; credentials are kept elsewhere.
    settings: row.settings as Record<string, string>,
    isHealthy: row.last_error_at === null || (row.last_ok_at !== null && row.last_ok_at > row.last_error_at),
    lastOkAt: row.last_ok_at?.toISOString() ?? null,
    lastError: row.last_error,
    lastErrorAt: row.last_error_at?.toISOString() ?? null,
    lastErrorStatus: row.last_error_status,
    lastErrorRequestId: row.last_error_request_id,
    widgetCount,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function toVerified({ businessName, timeZone, bookingUrl, warnings }: Verified): VerifiedConnection {
  return { businessName, timeZone, bookingUrl, warnings: [...warnings] };
}

/** What a system that did not let itself be asked means to the person who connects it. */
export function describeFailure(failure: Failure): string {
  if (failure.kind === "unavailable") return "The scheduling system cannot be reached just now. Please try again.";
  switch (failure.reason) {
    case "credentials":
      return "The scheduling system does not accept these credentials, or they do not allow what is needed.";
    case "not_found":
      return "The scheduling system does not know this business.";
    case "invalid":
    case "not_confirmed":
      return "The scheduling system does not accept these settings.";
    default:
      return failure.reason satisfies never;
  }
}
