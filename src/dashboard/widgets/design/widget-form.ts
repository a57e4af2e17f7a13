import type { AppWidget, WidgetChange } from "#contract/app/widgets.ts";
import type { Template } from "#contract/widget.ts";
import { TEMPLATES } from "../widget-words.ts";

/** As inputs have it: an empty text where the wire has null. */
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

/** Only what was touched: somebody else may have changed the rest meanwhile. */
export function toChange(values: WidgetValues, isTouched: (name: keyof WidgetValues) => boolean): WidgetChange {
  const wire = {
    ...values,
    accentColor: values.accentColor.trim() || null,
    bookingUrl: values.bookingUrl.trim() || null,
    connectionId: values.connectionId || null,
  };
  const names = (Object.keys(wire) as (keyof WidgetValues)[]).filter(isTouched);
  return Object.fromEntries(names.map((name) => [name, wire[name]])) as WidgetChange;
}

/** How a value reads on the screen: an id says nothing to anybody. */
export function toWords(name: keyof WidgetValues, value: string | readonly string[]): string {
  if (name === "template") return TEMPLATES[value as Template].name;
  if (name === "connectionId") return "";
  return typeof value === "string" ? value : value.join(", ");
}
