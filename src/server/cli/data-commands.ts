import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { importBookings } from "../bookings/import.ts";
import { sweepExpired } from "../retention/sweep.ts";
import { requireOrganization } from "./arguments.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

const PROGRESS_LINES = 10_000;

export const DATA_COMMANDS: readonly Command[] = [
  {
    name: "import bookings",
    usage: "import bookings --org ORG FILE.ndjson",
    summary: "take over bookings, one REST-shaped booking a line plus widgetId",
    options: ["org"],
    positionals: 1,
    async run({ db, args, clock, tell }) {
      const organization = await requireOrganization(db, args.required("org"));
      const result = await importBookings(db, organization.id, {
        lines: readLines(args.positional[0] ?? ""),
        now: clock.now(),
        progress: (lines) => lines % PROGRESS_LINES === 0 && tell(`${lines} lines read`),
      });
      if ("fault" in result) throw new UsageError(`Line ${result.line}: ${result.fault}. Nothing was imported.`);
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
      return { text: `Deleted ${deleted.bookings} bookings past their retention.`, json: deleted };
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

async function* readLines(path: string): AsyncGenerator<string> {
  const stream = createReadStream(path, "utf8");
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      yield line.replace(/^\uFEFF/, "");
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    throw new UsageError(`The file ${JSON.stringify(path)} cannot be read (${code}).`);
  }
}
