import type { RawAttribution } from "#contract/attribution.ts";
import { EMAIL_IN_TEXT } from "#contract/email-in-text.ts";
import { ADDRESS_FIELDS } from "./classify-source.ts";
import { redactAddress } from "./page.ts";

const addressFields: ReadonlySet<string> = new Set(ADDRESS_FIELDS);

/** For attribution that is stored with a booking. Events store neither these addresses nor the tags as they were sent. */
export function redactAttribution(raw: RawAttribution): RawAttribution {
  const kept = Object.entries(raw).flatMap(([name, value]) => {
    if (typeof value !== "string") return [[name, value]];
    if (addressFields.has(name)) return [[name, redactAddress(value)]];
    return EMAIL_IN_TEXT.test(value) ? [] : [[name, value]];
  });
  return Object.fromEntries(kept);
}
