import { type Static, Type } from "typebox";
import { UUID_PATTERN } from "./ids.ts";
import { STEPS } from "./steps.ts";

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/**
 * A line of `import events`. `start` is the appointment and `service` its name, on booking_completed.
 * source, medium and campaign are treated like a link's tags; null means the same as a missing field. Other fields are ignored.
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
  service: text,
});
export type ImportedEvent = Static<typeof ImportedEvent>;
