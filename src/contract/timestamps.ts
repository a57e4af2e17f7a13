import { Type } from "typebox";

export const Timestamp = Type.String({
  description: "ISO 8601 in UTC with milliseconds.",
  format: "date-time",
  examples: ["2026-11-01T09:30:00.000Z"],
});
