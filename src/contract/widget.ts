import { type Static, Type } from "typebox";
import { WIDGET_ID_PATTERN } from "./ids.ts";
import { timestampOf } from "./timestamps.ts";

export const WIDGET_STATUSES = ["active", "paused"] as const;
export type WidgetStatus = (typeof WIDGET_STATUSES)[number];

/** What a widget books in: the sandbox or a real scheduling system. */
export const MODES = ["test", "live"] as const;
export type Mode = (typeof MODES)[number];

export const TEMPLATES = ["classic", "compact", "minimal"] as const;
export type Template = (typeof TEMPLATES)[number];

export const Widget = Type.Object(
  {
    id: Type.String({
      pattern: WIDGET_ID_PATTERN,
      description: "The widget's ID, as in the snippet.",
      examples: ["w_4fTqD8sKmB2x"],
    }),
    name: Type.String({ description: "Name of the widget, shown only to its organization.", examples: ["Website"] }),
    bookingUrl: Type.String({
      description:
        "The fallback link set for the widget. Without one, the page of its scheduling system, or the widget's own booking page " +
        "at Bookflow if the system has none.",
      examples: ["https://scheduler.example/lindenhof-dental"],
    }),
    template: Type.String({ description: "`classic`, `compact` or `minimal`.", examples: [...TEMPLATES] }),
    status: Type.Union([Type.Literal("active"), Type.Literal("paused")], {
      description: "`active`, or `paused`: visitors can't book.",
      examples: ["active"],
    }),
    collectData: Type.Boolean({
      description: "The Store bookings switch. Only widgets with it on have bookings in the bookings endpoint.",
      examples: [true],
    }),
    businessName: Type.String({
      description: "Name of the business, as visitors see it: the organization's name if the widget has no other.",
      examples: ["Lindenhof Dental"],
    }),
    createdAt: timestampOf("When the widget was created.", "2026-09-14T08:05:31.000Z"),
  },
  { title: "Widget" },
);
export type Widget = Static<typeof Widget>;

export const WidgetList = Type.Object({ data: Type.Array(Widget) }, { title: "WidgetList" });
