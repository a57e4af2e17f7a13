import type { AppWidget, WidgetChange } from "#contract/app/widgets.ts";
import type { Template } from "#contract/widget.ts";
import { TEMPLATES } from "../widget-words.ts";

/** The form's values: an empty string where the API has null. */
export type WidgetValues = {
  name: string;
  businessName: string;
  template: AppWidget["template"];
  accentColor: string;
  bookingUrl: string;
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
    bookingUrl: widget.bookingUrl ?? "",
  };
}

/** Form values as the API takes them. */
export function toWire({ accentColor, bookingUrl, ...rest }: Partial<WidgetValues>): WidgetChange {
  return {
    ...rest,
    ...(accentColor === undefined ? {} : { accentColor: accentColor.trim() || null }),
    ...(bookingUrl === undefined ? {} : { bookingUrl: bookingUrl.trim() || null }),
  };
}

/** A value as text. */
export function toWords(name: keyof WidgetValues, value: string | readonly string[]): string {
  if (name === "template") return TEMPLATES[value as Template].name;
  return typeof value === "string" ? value : value.join(", ");
}
