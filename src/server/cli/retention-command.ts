import { sweepExpired } from "../retention/sweep.ts";
import type { Command } from "./command.ts";

export const RETENTION_COMMAND: Command = {
  name: "retention run",
  usage: "retention run",
  summary: "delete data older than the plan's retention now",
  options: [],
  positionals: 0,
  async run(context) {
    const deleted = await sweepExpired(context);
    const { bookings, visits, counters, webhookEvents } = deleted;
    const text = `Deleted ${bookings} bookings, ${visits} visits, ${counters} counters and ${webhookEvents} webhook events past their retention.`;
    return { text, json: deleted };
  },
};
