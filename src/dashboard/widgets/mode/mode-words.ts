import type { AppWidget, TestDataShape } from "#contract/app/widgets.ts";
import type { Mode } from "#contract/widgets/widget.ts";
import { pluralize } from "../../format.ts";

const MODE_TEXTS: Record<Mode, string> = { test: "in test mode", live: "live" };

/** "in test mode", "live but paused". */
export function describeMode({ mode, status }: Pick<AppWidget, "mode" | "status">): string {
  const text = MODE_TEXTS[mode];
  if (status !== "paused") return text;
  return mode === "live" ? `${text} but paused` : `${text} and paused`;
}

export const PAUSED_TEXT = "Visitors can’t book until the widget is activated.";

type Chosen = Pick<AppWidget, "name" | "mode" | "status" | "connectionId">;

export function describeGoLive(before: Pick<Chosen, "mode" | "connectionId">, saved: Chosen): string {
  if (saved.connectionId === before.connectionId) return "Connection checked";
  if (saved.mode === before.mode) return "Connection changed";
  return `${saved.name} is ${describeMode(saved)}`;
}

export function hasTestData({ bookings, visits, deliveries }: TestDataShape): boolean {
  return bookings + visits + deliveries > 0;
}

/** "3 bookings, 12 visits and 1 delivery". */
export function describeTestData({ bookings, visits, deliveries }: TestDataShape): string {
  return `${pluralize(bookings, "booking")}, ${pluralize(visits, "visit")} and ${pluralize(deliveries, "delivery", "deliveries")}`;
}

export const LEAVING_LIVE =
  "Visitors can’t make real appointments any more. Existing appointments stay in your scheduling system.";
