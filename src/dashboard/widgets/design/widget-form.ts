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
  connectionId: string;
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
    connectionId: widget.connectionId ?? "",
  };
}

/** Form values as the API takes them. */
export function toWire({ accentColor, bookingUrl, connectionId, ...rest }: Partial<WidgetValues>): WidgetChange {
  return {
    ...rest,
    ...(accentColor === undefined ? {} : { accentColor: accentColor.trim() || null }),
    ...(bookingUrl === undefined ? {} : { bookingUrl: bookingUrl.trim() || null }),
    ...(connectionId === undefined ? {} : { connectionId: connectionId || null }),
  };
}

/** A value as text; empty for ids, which mean nothing to people. */
export function toWords(name: keyof WidgetValues, value: string | readonly string[]): string {
  if (name === "template") return TEMPLATES[value as Template].name;
  if (name === "connectionId") return "";
  return typeof value === "string" ? value : value.join(", ");
}
