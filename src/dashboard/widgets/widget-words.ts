import { type Feature, type Plan, planIncludes } from "#contract/plans.ts";
import type { Language } from "#contract/widgets/languages.ts";
import type { Template, WidgetStatus } from "#contract/widgets/widget.ts";
import type { HourCycle } from "#contract/widgets/widget-looks.ts";

export const TEMPLATES: Record<Template, { name: string; meaning: string }> = {
  classic: { name: "Classic", meaning: "A card with calendar and times side by side." },
  compact: { name: "Compact", meaning: "Tighter spacing for sidebars and small pages." },
  minimal: { name: "Minimal", meaning: "No card or borders. Blends into your page." },
};

export const STATUS_NAMES: Record<WidgetStatus, string> = { active: "Active", paused: "Paused" };
export const STATUS_COLORS: Record<WidgetStatus, string> = { active: "green", paused: "gray" };

/** Each language in its own words. */
export const LANGUAGE_NAMES: Record<Language, string> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  pt: "Português (Portugal)",
  "pt-BR": "Português (Brasil)",
};

export const HOUR_CYCLE_NAMES: Record<HourCycle, string> = { h12: "12-hour (2:30 pm)", h23: "24-hour (14:30)" };

const USE_NAMES: Record<Feature, string> = { csvExport: "exports", readApi: "the read API", webhooks: "webhooks" };
const listFormat = new Intl.ListFormat("en-GB");

/** What stored bookings are for on this plan: "the bookings list, exports and webhooks". */
export function describeStorageUses(plan: Plan): string {
  return listFormat.format(["the bookings list", ...listUses(plan, ["csvExport", "readApi", "webhooks"])]);
}

/** Where stored bookings can be read on this plan, besides the bookings list: "exports and the read API", or "". */
export function describeOutputs(plan: Plan): string {
  return listFormat.format(listUses(plan, ["csvExport", "readApi"]));
}

function listUses(plan: Plan, features: readonly Feature[]): string[] {
  return features.filter((feature) => planIncludes(plan, feature)).map((feature) => USE_NAMES[feature]);
}
