import type { AppEndpoint } from "#contract/app/endpoints.ts";
import type { ChosenEventType } from "#contract/webhooks/endpoint.ts";
import type { NoticeRow, RecentAttempts } from "../health/queries.ts";
import type { EndpointRow } from "./queries.ts";

export function toAppEndpoint(
  row: EndpointRow,
  details: { recent: RecentAttempts | undefined; notices: readonly NoticeRow[]; seesUrl: boolean; now: Date },
): AppEndpoint {
  const { recent, now } = details;
  const { previous_secret_expires_at: previousExpiresAt } = row;
  return {
    id: row.id,
    kind: row.kind,
    url: details.seesUrl ? row.url : toShownOrigin(row),
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason,
    disabledAt: toText(row.disabled_at),
    secretHint: row.secret_hint === "" ? null : row.secret_hint,
    secretCreatedAt: row.secret_hint === "" ? null : toText(row.secret_created_at),
    previousSecretExpiresAt: previousExpiresAt && previousExpiresAt > now ? toText(previousExpiresAt) : null,
    // Only these can be chosen.
    eventTypes: row.event_types as ChosenEventType[],
    widgetIds: row.widget_ids,
    services: row.services,
    channels: row.channels,
    sources: row.sources,
    campaigns: row.campaigns,
    reportsExpiry: row.reports_expiry,
    headerNames: row.header_names,
    requestsPerMinute: row.requests_per_minute,
    health: {
      condition: toCondition(row),
      lastAttemptAt: toText(row.last_attempt_at),
      lastSuccessAt: toText(row.last_success_at),
      lastStatus: row.last_status,
      failingSince: toText(row.failing_since),
      pausedUntil: toText(row.paused_until),
      lastDay: {
        delivered: recent?.delivered ?? 0,
        failed: recent?.failed ?? 0,
        lastFailureAt: toText(recent?.last_failure_at ?? null),
      },
    },
    notices: details.notices.map(({ kind, detail, created_at }) => ({ kind, detail, at: created_at.toISOString() })),
    createdAt: row.created_at.toISOString(),
  };
}

function toCondition(row: EndpointRow): AppEndpoint["health"]["condition"] {
  if (row.status === "disabled") return "disabled";
  if (row.failing_since !== null) return "failing";
  return row.last_attempt_at === null ? "idle" : "healthy";
}

function toText(instant: Date | null): string | null {
  return instant?.toISOString() ?? null;
}

const SHOWN_END_LENGTH = 4;

/** A chat URL is a password: only its host and last characters are stored in plain text and shown. */
export function toShortUrl(url: string): string {
  return `${new URL(url).origin}/…${url.slice(-SHOWN_END_LENGTH)}`;
}

/** The endpoint's description, or its host. The rest of the URL may be a password. */
export function toEndpointName({ description, url }: { description: string; url: string }): string {
  return description === "" ? new URL(url).host : description;
}

/** For viewers: the path or query of any URL may contain a password. */
export function toShownOrigin({ url }: { url: string }): string {
  return `${new URL(url).origin}/…`;
}
