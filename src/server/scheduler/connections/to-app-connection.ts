import type { AppConnection, VerifiedConnection } from "#contract/app/connections.ts";
import type { Verified } from "../scheduling-system.ts";
import type { ConnectionRow } from "./queries.ts";

export function toAppConnection(row: ConnectionRow, widgetCount: number): AppConnection {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    // Always written as an object of texts. Credentials are stored separately.
    settings: row.settings as Record<string, string>,
    followsChanges: row.follows_changes,
    getsNotices: row.subscription_id !== null,
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
