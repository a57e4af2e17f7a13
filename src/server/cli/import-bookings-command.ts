import { importBookings } from "../bookings/bookings.ts";
import { requireOrganization } from "./arguments.ts";
import type { Command } from "./command.ts";
import { pluralize } from "./pluralize.ts";
import { PROGRESS_LINES, reportEvery } from "./progress.ts";
import { nothingImported, readLines } from "./read-lines.ts";

export const IMPORT_BOOKINGS_COMMAND: Command = {
  name: "import bookings",
  usage: "import bookings --org ORG FILE.ndjson",
  summary:
    "import bookings from a file with one JSON object per line: a booking as the read API returns it, plus widgetId",
  options: ["org"],
  positionals: 1,
  async run({ db, args, clock, config, tell }) {
    const organization = await requireOrganization(db, args.required("org"));
    const result = await importBookings(db, organization.id, {
      lines: readLines(args.positional[0] ?? ""),
      now: clock.now(),
      baseUrl: config.baseUrl,
      progress: reportEvery(PROGRESS_LINES, (lines) => tell(`${lines} lines read`)),
    });
    if ("fault" in result) throw nothingImported(result);
    const { imported, skipped, deleted } = result;
    const kept = deleted === 0 ? "" : ` Not imported: ${pluralize(deleted, "booking")} that had been deleted.`;
    return { text: `Imported ${pluralize(imported, "booking")}; ${skipped} already existed.${kept}`, json: result };
  },
};
