import { sweepExpired } from "../operations/operations.ts";
import type { Command } from "./command.ts";
import { pluralize } from "./pluralize.ts";

export const RETENTION_COMMAND: Command = {
  name: "retention run",
  usage: "retention run",
  summary: "delete expired data now instead of within the hour",
  options: [],
  positionals: 0,
  async run(context) {
    const deleted = await sweepExpired(context);
    const { bookings, visits, webhookEvents } = deleted;
    const counts = [pluralize(bookings, "booking"), pluralize(visits, "visit")].join(", ");
    const text = `Deleted ${counts} and ${pluralize(webhookEvents, "webhook event")} past their retention.`;
    return { text, json: deleted };
  },
};
