import type { WidgetId } from "#contract/ids.ts";
import { STEPS, type Step } from "#contract/steps.ts";

// What is recorded comes as touches: the steps that one visit took at one instant. A request of the browser is one touch, and
// so is a line of an import. Steps travel as a set of bits; a visit's steps are then the union over its touches.

export type VisitClass = {
  source: string;
  medium: string;
  /** "(not set)" where there is none. */
  campaign: string;
  channel: string;
};

export type Touch = VisitClass & {
  widgetId: WidgetId;
  visitId: string;
  at: Date;
  /** Bits; see `toStepBit`. */
  steps: number;
  page: string;
  device: string;
  country: string;
  /** On booking_completed and booking_failed. */
  conversion: Conversion | null;
};

export type Conversion = {
  step: "booking_completed" | "booking_failed";
  /** Tells the bookings, or failed attempts, of one visit apart; sent again, it is the same one. */
  key: string;
  /** Appointment. */
  startAt: Date | null;
};

export function toStepBit(step: Step): number {
  return 1 << STEPS.indexOf(step);
}
