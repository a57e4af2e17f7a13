import { type Static, Type } from "typebox";
import { Timestamp } from "../timestamps.ts";
import { TEMPLATES, WIDGET_STATUSES } from "../widget.ts";
import { ALLOWED_DOMAINS_MAX } from "../widget-looks.ts";
import { NullableText, NullableTimestamp, oneOf, Was } from "./forms.ts";

/** A widget as those see it who set it up. */
export const AppWidget = Type.Object({
  id: Type.String(),
  name: Type.String(),
  businessName: Type.String(),
  template: oneOf(TEMPLATES),
  status: oneOf(WIDGET_STATUSES),
  collectData: Type.Boolean(),
  /** Null: visitors without a frame are sent to `pageUrl`. */
  bookingUrl: NullableText,
  /** The widget's own page in this service. */
  pageUrl: Type.String(),
  /** Null: the template's own colour. */
  accentColor: NullableText,
  /** Host names, `*.example.com` for all below one; empty: every page may show the widget. */
  allowedDomains: Type.Array(Type.String()),
  /** Null: the widget books in its own sandbox. */
  connectionId: NullableText,
  /** What the page owner pastes. */
  snippet: Type.String(),
  /** Of the visits that are kept; null before the first, which is how an installation is checked. */
  firstViewAt: NullableTimestamp,
  lastViewAt: NullableTimestamp,
  createdAt: Timestamp,
});
export type AppWidget = Static<typeof AppWidget>;

export const AppWidgetList = Type.Object({ data: Type.Array(AppWidget) });
export type AppWidgetList = Static<typeof AppWidgetList>;

const settings = {
  name: Type.String(),
  businessName: Type.String(),
  template: oneOf(TEMPLATES),
  status: oneOf(WIDGET_STATUSES),
  collectData: Type.Boolean(),
  bookingUrl: NullableText,
  /** `#rrggbb`. */
  accentColor: NullableText,
  allowedDomains: Type.Array(Type.String(), { maxItems: ALLOWED_DOMAINS_MAX }),
  connectionId: NullableText,
};

const some = Type.Partial(Type.Object(settings)).properties;

/** PATCH: what is left out stays as it is. */
export const WidgetChange = Type.Object({ ...some, was: Was });
export type WidgetChange = Static<typeof WidgetChange>;

/** POST: a name is all it takes; Store bookings is off unless it is asked for. */
export const NewWidget = Type.Object({ ...some, name: settings.name });
export type NewWidget = Static<typeof NewWidget>;
