import type { Attribution, RawAttribution } from "#contract/attribution.ts";
import { RawAttribution as RawFields } from "#contract/attribution.ts";
import { NOT_SET } from "#contract/dimensions.ts";
import { ATTRIBUTION_TEXT_MAX, type VisitClass } from "../../analytics/analytics.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";

/** The loader's raw fields and our classification, without absent fields. */
export function toAttribution(raw: RawAttribution, visit: VisitClass & { page: string }): Attribution {
  const kept: Record<string, string | number> = {
    source: visit.source,
    medium: visit.medium,
    ...(visit.campaign === NOT_SET ? {} : { campaign: visit.campaign }),
    channel: visit.channel,
    ...(visit.page === "" ? {} : { pageUrl: visit.page }),
  };
  for (const name of Object.keys(RawFields.properties) as (keyof RawAttribution)[]) {
    const value = raw[name];
    if (typeof value === "number") kept[name] = value;
    // A privacy signal rewrites addresses, which may make them longer.
    else if (value !== undefined && value !== "") kept[name] = value.slice(0, ATTRIBUTION_TEXT_MAX).toWellFormed();
  }
  const firstSeenAt = raw.firstSeenAt === undefined ? null : parseIsoInstant(raw.firstSeenAt, "down");
  // An offset can lead beyond the years of four digits, the only ones that the contract's timestamps have.
  if (firstSeenAt && firstSeenAt.getUTCFullYear() <= 9999) kept["firstSeenAt"] = firstSeenAt.toISOString();
  else delete kept["firstSeenAt"];
  // Every name is one of the contract's, and only `touches` is a number.
  return kept as Attribution;
}
