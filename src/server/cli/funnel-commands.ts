import { importEvents } from "../funnel/import/import-events.ts";
import { rebuildStats } from "../funnel/recount/rebuild.ts";
import { StartError } from "../lib/start-error.ts";
import { requireOrganization } from "./arguments.ts";
import type { Command } from "./command.ts";
import { everySoOften, PROGRESS_LINES, PROGRESS_VISITS } from "./progress.ts";
import { nothingImported, readLines } from "./read-lines.ts";
import { UsageError } from "./usage-error.ts";

export const FUNNEL_COMMANDS: readonly Command[] = [
  {
    name: "import events",
    usage: "import events --org ORG FILE.ndjson",
    summary: "take over funnel events, one a line: widgetId, visitId, step, at, and what else is known",
    options: ["org"],
    positionals: 1,
    async run({ db, args, clock, tell }) {
      const organization = await requireOrganization(db, args.required("org"));
      const told = {
        checked: everySoOften(PROGRESS_LINES, (lines) => tell(`${lines} lines checked`)),
        recorded: everySoOften(PROGRESS_LINES, (lines) => tell(`${lines} lines recorded`)),
      };
      const result = await importEvents(db, organization.id, {
        read: () => readLines(args.positional[0] ?? ""),
        now: clock.now(),
        progress: (stage, lines) => told[stage](lines),
      });
      switch (result.kind) {
        case "imported": {
          const { imported, skipped } = result;
          return { text: `Imported ${imported} events; ${skipped} were there already.`, json: { imported, skipped } };
        }
        case "refused":
          throw nothingImported(result);
        case "changed":
          throw new UsageError(
            `The file changed while it was read: it was imported up to line ${result.line}. Run the command again.`,
          );
        default:
          return result satisfies never;
      }
    },
  },
  {
    name: "stats rebuild",
    usage: "stats rebuild --org ORG",
    summary: "count an organization's analytics anew from its funnel events",
    options: ["org"],
    positionals: 0,
    async run({ db, args, clock, tell }) {
      const { id } = await requireOrganization(db, args.required("org"));
      const progress = everySoOften(PROGRESS_VISITS, (visits) => tell(`${visits} visits counted`));
      const outcome = await rebuildStats({ db, clock }, id, { progress });
      switch (outcome.kind) {
        case "rebuilt": {
          const { visits, zone } = outcome;
          return { text: `Counted ${visits} visits of ${id} anew, in ${zone}.`, json: { visits, timeZone: zone } };
        }
        case "busy":
          throw new StartError(`Another process is counting ${id} anew right now.`);
        case "unknown_zone":
          throw new StartError(`The database server does not know the time zone ${outcome.zone}.`);
        case "stopped":
          throw new Error("A rebuild without a signal was stopped");
        default:
          return outcome satisfies never;
      }
    },
  },
];
