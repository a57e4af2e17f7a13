import { Type } from "typebox";

const FORM = "ISO 8601 in UTC with milliseconds.";

export const Timestamp = Type.String({
  description: FORM,
  format: "date-time",
  examples: ["2026-11-01T09:30:00.000Z"],
});

/** A timestamp with its own description and example. */
export const timestampOf = (meaning: string, example: string): typeof Timestamp =>
  Type.String({ ...Timestamp, description: `${meaning} ${FORM}`, examples: [example] });
