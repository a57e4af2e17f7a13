import { importBookings } from "../bookings/import/import-bookings.ts";
import { sweepExpired } from "../retention/sweep.ts";
import { requireOrganization } from "./arguments.ts";
import type { Command } from "./command.ts";
import { everySoOften, PROGRESS_LINES } from "./progress.ts";
import { nothingImported, readLines } from "./read-lines.ts";

export const DATA_COMMANDS: readonly Command[] = [
  {
    name: "import bookings",
    usage: "import bookings --org ORG FILE.ndjson",
    summary: "take over bookings, one REST-shaped booking a line plus widgetId",
    options: ["org"],
    positionals: 1,
    async run({ db, args, clock, config, tell }) {
      const organization = await requireOrganization(db, args.required("org"));
      const result = await importBookings(db, organization.id, {
        lines: readLines(args.positional[0] ?? ""),
        now: clock.now(),
        baseUrl: config.baseUrl,
        progress: everySoOften(PROGRESS_LINES, (lines) => tell(`${lines} lines read`)),
      });
      if ("fault" in result) throw nothingImported(result);
      return { text: `Imported ${result.imported} bookings; ${result.skipped} were there already.`, json: result };
    },
  },
  {
    name: "retention run",
    usage: "retention run",
    summary: "delete now what has outlived its plan's retention",
    options: [],
    positionals: 0,
    async run(context) {
      const deleted = await sweepExpired(context);
      const { bookings, visits, counters, webhookEvents } = deleted;
      const text = `Deleted ${bookings} bookings, ${visits} visits, ${counters} counters and ${webhookEvents} webhook events past their retention.`;
      return { text, json: deleted };
    },
  },
  {
    name: "migrate",
    usage: "migrate",
    summary: "bring the database up to date (every start does this too)",
    options: [],
    positionals: 0,
    async run({ applied }) {
      const text = applied.length === 0 ? "The database is up to date." : `Applied ${applied.join(", ")}.`;
      return { text, json: { applied } };
    },
  },
];
