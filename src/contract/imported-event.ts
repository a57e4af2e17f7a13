import { type Static, Type } from "typebox";
import { UUID_PATTERN } from "./ids.ts";
import { STEPS } from "./steps.ts";

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/**
 * A line of `import events`. `start` is the appointment, on booking_completed. source, medium and campaign are taken as the
 * tags of a link would be; null and a missing member are the same. Members that are not named here are ignored.
 */
export const ImportedEvent = Type.Object({
  widgetId: Type.String(),
  visitId: Type.String({ pattern: UUID_PATTERN }),
  step: Type.Enum([...STEPS]),
  at: Type.String(),
  page: text,
  source: text,
  medium: text,
  campaign: text,
  device: text,
  country: text,
  start: text,
});
export type ImportedEvent = Static<typeof ImportedEvent>;
