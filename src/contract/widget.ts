import { type Static, Type } from "typebox";
import { Timestamp } from "./timestamps.ts";

export const WIDGET_STATUSES = ["active", "paused"] as const;
export type WidgetStatus = (typeof WIDGET_STATUSES)[number];

export const TEMPLATES = ["classic", "compact", "minimal"] as const;
export type Template = (typeof TEMPLATES)[number];

export const Widget = Type.Object(
  {
    id: Type.String({ description: "Widget identifier.", examples: ["w_4fTqD8sKmB2x"] }),
    name: Type.String(),
    bookingUrl: Type.String({ description: "Link to the booking page in the external scheduling system." }),
    template: Type.String({ description: "Template name.", examples: [...TEMPLATES] }),
    status: Type.Union([Type.Literal("active"), Type.Literal("paused")]),
    collectData: Type.Boolean({
      description: "The Store bookings switch. Only widgets with it on have bookings in the bookings endpoint.",
    }),
    businessName: Type.String(),
    createdAt: Timestamp,
  },
  { title: "Widget" },
);
export type Widget = Static<typeof Widget>;

export const WidgetList = Type.Object({ data: Type.Array(Widget) }, { title: "WidgetList" });
