import type { AppWidget, WidgetChange } from "#contract/app/widgets.ts";
import type { Preview } from "#contract/widgets/frame-messages.ts";
import type { Language } from "#contract/widgets/languages.ts";
import type { Template } from "#contract/widgets/widget.ts";
import { CORNER_RADIUS_MAX, type HourCycle, PAGE_FONT } from "#contract/widgets/widget-looks.ts";
import { HOUR_CYCLE_NAMES, LANGUAGE_NAMES, TEMPLATES } from "../widget-words.ts";

/** The form's values: an empty string where the API has null. */
export type WidgetValues = {
  name: string;
  businessName: string;
  template: AppWidget["template"];
  accentColor: string;
  showsLogo: "yes" | "no";
  cornerRadius: string;
  fontFamily: string;
  language: Language | "";
  hourCycle: HourCycle | "";
  locksTimeZone: "yes" | "no";
  buttonLabel: string;
  bookingUrl: string;
  thankYouUrl: string;
  privacyUrl: string;
  allowedDomains: string[];
};

export function toFormValues(widget: AppWidget): WidgetValues {
  const { name, businessName, template, allowedDomains } = widget;
  return {
    name,
    businessName,
    template,
    allowedDomains,
    accentColor: widget.accentColor ?? "",
    showsLogo: widget.showsLogo ? "yes" : "no",
    cornerRadius: widget.cornerRadius === null ? "" : String(widget.cornerRadius),
    fontFamily: widget.fontFamily ?? "",
    language: widget.language ?? "",
    hourCycle: widget.hourCycle ?? "",
    locksTimeZone: widget.locksTimeZone ? "yes" : "no",
    buttonLabel: widget.buttonLabel ?? "",
    bookingUrl: widget.bookingUrl ?? "",
    thankYouUrl: widget.thankYouUrl ?? "",
    privacyUrl: widget.privacyUrl ?? "",
  };
}

/** The form's values in the shape of the API. */
export function toWire(values: Partial<WidgetValues>): WidgetChange {
  const { showsLogo, locksTimeZone, cornerRadius, language, hourCycle, accentColor, fontFamily, ...rest } = values;
  const { buttonLabel, bookingUrl, thankYouUrl, privacyUrl, ...plain } = rest;
  const texts = { accentColor, fontFamily, buttonLabel, bookingUrl, thankYouUrl, privacyUrl };
  const given = Object.entries(texts).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text.trim() || null]],
  );
  return {
    ...plain,
    ...Object.fromEntries(given),
    ...(showsLogo === undefined ? {} : { showsLogo: showsLogo === "yes" }),
    ...(locksTimeZone === undefined ? {} : { locksTimeZone: locksTimeZone === "yes" }),
    ...(cornerRadius === undefined ? {} : { cornerRadius: toRadius(cornerRadius) }),
    ...(language === undefined ? {} : { language: language || null }),
    ...(hourCycle === undefined ? {} : { hourCycle: hourCycle || null }),
  };
}

function toRadius(text: string): number | null {
  const pixels = Math.round(Number(text));
  return text === "" || Number.isNaN(pixels) ? null : Math.min(Math.max(pixels, 0), CORNER_RADIUS_MAX);
}

export function toPreview(values: WidgetValues): Preview {
  // Every value is given, so every field is there.
  const shown = toWire(values) as Required<WidgetChange>;
  const { cornerRadius, fontFamily, language, hourCycle, locksTimeZone, showsLogo } = shown;
  const isLink = URL.parse(shown.privacyUrl ?? "")?.protocol === "https:";
  const { template, businessName } = values;
  const look = { cornerRadius, fontFamily, language, hourCycle, locksTimeZone, showsLogo };
  return { template, businessName, ...look, privacyUrl: isLink ? shown.privacyUrl : null };
}

export function toWords(name: keyof WidgetValues, value: string | readonly string[]): string {
  if (name === "template") return TEMPLATES[value as Template].name;
  if (name === "language") return value === "" ? "automatic" : LANGUAGE_NAMES[value as Language];
  if (name === "fontFamily")
    return value === "" ? "system font" : value === PAGE_FONT ? "page’s own font" : String(value);
  if (name === "hourCycle") return value === "" ? "automatic" : HOUR_CYCLE_NAMES[value as HourCycle];
  return typeof value === "string" ? value : value.join(", ");
}
