import type { RawAttribution } from "#contract/attribution.ts";
import { ADDRESS_FIELDS } from "./classify-source.ts";
import { redactAddress } from "./page.ts";

/** For attribution that is stored with a booking. Events don't store these addresses. */
export function redactAddresses(raw: RawAttribution): RawAttribution {
  const redacted = { ...raw };
  for (const name of ADDRESS_FIELDS) if (redacted[name] !== undefined) redacted[name] = redactAddress(redacted[name]);
  return redacted;
}
