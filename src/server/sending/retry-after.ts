/** The longest delay that a Retry-After header can ask for. */
const RETRY_AFTER_MAX_SECONDS = 3_600;

/** Seconds to wait (delay-seconds or HTTP-date), at most an hour; null without a valid value. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? "";
  const seconds = /^[0-9]+$/.test(text) ? Number(text) : secondsUntil(parseHttpDate(text), now);
  return seconds === null ? null : Math.min(seconds, RETRY_AFTER_MAX_SECONDS);
}

function secondsUntil(instant: Date | null, now: Date): number | null {
  return instant === null ? null : Math.max(0, (instant.getTime() - now.getTime()) / 1_000);
}

/** The three forms of RFC 9110, section 5.6.7. `Date.parse` alone takes far more than dates. */
function parseHttpDate(text: string): Date | null {
  const zone = HTTP_DATE_WITH_ZONE.test(text) ? "" : ASCTIME_DATE.test(text) ? " GMT" : null;
  if (zone === null) return null;
  const ms = Date.parse(text + zone);
  return Number.isNaN(ms) ? null : new Date(ms);
}

const HTTP_DATE_WITH_ZONE =
  /^[A-Z][a-z]{2,8}, [0-9]{2}[ -][A-Z][a-z]{2}[ -](?:[0-9]{2}|[0-9]{4}) [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}$/;
