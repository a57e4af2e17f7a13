import { type Static, Type } from "typebox";
import { CONNECTION_ID } from "../ids.ts";
import { WIDGET_NAME_LENGTH_MAX } from "../limits.ts";
import { Timestamp } from "../timestamps.ts";
import { MODES, Offer, TEMPLATES, WIDGET_STATUSES, WidgetOptions } from "../widgets/widget.ts";
import { ALLOWED_DOMAINS_MAX, BUTTON_LABEL_LENGTH_MAX } from "../widgets/widget-looks.ts";
import {
  bodyOf,
  COLOR_PATTERN,
  idOf,
  line,
  NullableText,
  NullableTimestamp,
  nullable,
  oneOf,
  optionalLine,
  PreviousValues,
} from "./forms.ts";

export const AppWidget = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    businessName: Type.String(),
    template: oneOf(TEMPLATES),
    status: oneOf(WIDGET_STATUSES),
    collectData: Type.Boolean(),
    /** Where visitors go if the frame can't be shown; null: `pageUrl`. */
    bookingUrl: NullableText,
    /** The widget's page on this server. */
    pageUrl: Type.String(),
    /** Null: the template's default. */
    accentColor: NullableText,
    /** Host names, or `*.example.com` for all subdomains. Empty: any page can embed the widget. */
    allowedDomains: Type.Array(Type.String()),
    /** Null in test mode: the widget books in the sandbox. */
    connectionId: NullableText,
    /** Only a live widget makes real appointments. */
    mode: oneOf(MODES),
    ...WidgetOptions.properties,
    /** What visitors can book in the current scheduling system; null: everything. */
    offer: nullable(Offer),
    /** The HTML that the page owner pastes. */
    snippet: Type.String(),
    /** The oldest and newest view within retention, on any page; null before the first. */
    firstViewAt: NullableTimestamp,
    lastViewAt: NullableTimestamp,
    /** The page of the last view on the business's own site; null if there was none lately. The installation check waits for it. */
    seenOn: NullableText,
    createdAt: Timestamp,
  },
  { title: "ManagedWidget" },
);
export type AppWidget = Static<typeof AppWidget>;

export const AppWidgetList = Type.Object({ data: Type.Array(AppWidget) });
export type AppWidgetList = Static<typeof AppWidgetList>;

/** A full https URL; null or empty for none. */
const Link = nullable(Type.String({ maxLength: 2_048, examples: ["https://lindenhof.example/book"] }));

const settings = {
  name: line(WIDGET_NAME_LENGTH_MAX),
  businessName: optionalLine(WIDGET_NAME_LENGTH_MAX),
  template: oneOf(TEMPLATES),
  status: oneOf(WIDGET_STATUSES),
  collectData: Type.Boolean(),
  bookingUrl: Link,
  /** `#rrggbb`. */
  accentColor: nullable(Type.String({ pattern: COLOR_PATTERN })),
  allowedDomains: Type.Array(Type.String({ maxLength: 300, examples: ["lindenhof.example", "*.lindenhof.example"] }), {
    maxItems: ALLOWED_DOMAINS_MAX,
  }),
  ...WidgetOptions.properties,
  fontFamily: nullable(Type.String({ maxLength: 100, examples: ["Georgia"] })),
  buttonLabel: nullable(optionalLine(BUTTON_LABEL_LENGTH_MAX)),
  thankYouUrl: Link,
  privacyUrl: Link,
  offer: nullable(Offer),
};

const some = Type.Partial(Type.Object(settings)).properties;

/** PATCH: omitted fields stay as they are. */
export const WidgetChange = bodyOf(
  { ...some, was: PreviousValues },
  {
    title: "WidgetChange",
    examples: [{ collectData: true, accentColor: "#4b45d6" }],
  },
);
export type WidgetChange = Static<typeof WidgetChange>;

/** POST: only the name is required. Store bookings is off by default. */
export const NewWidget = bodyOf(
  { ...some, name: settings.name },
  {
    title: "NewWidget",
    examples: [{ name: "Front page", businessName: "Lindenhof Dental", collectData: true }],
  },
);
export type NewWidget = Static<typeof NewWidget>;

/** POST go-live: the connection is checked first. On a live widget it changes the connection. */
export const GoLiveRequest = bodyOf({ connectionId: idOf(CONNECTION_ID) });
export type GoLiveRequest = Static<typeof GoLiveRequest>;

/** POST clear-test-data. With `dryRun`, it is only counted. */
export const ClearTestRequest = bodyOf({ dryRun: Type.Optional(Type.Boolean()) });
export type ClearTestRequest = Static<typeof ClearTestRequest>;

export const TestDataShape = Type.Object({
  bookings: Type.Integer(),
  visits: Type.Integer(),
  deliveries: Type.Integer(),
});
export type TestDataShape = Static<typeof TestDataShape>;

/** Everything the widget's scheduling system has, for choosing what is offered. */
export const WidgetServices = Type.Object({
  services: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      durationMinutes: Type.Integer(),
      /** Empty when the system chooses. */
      staff: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    }),
  ),
});
export type WidgetServices = Static<typeof WidgetServices>;
