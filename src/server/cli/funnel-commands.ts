import { importEvents, rebuildPacks } from "../analytics/analytics.ts";
import { requireOrganization } from "./arguments.ts";
import { type Command, pluralize, UsageError } from "./command.ts";
import { nothingImported, PROGRESS_LINES, PROGRESS_VISITS, readLines, reportEvery } from "./read-lines.ts";

export const FUNNEL_COMMANDS: readonly Command[] = [
  {
    name: "import events",
    usage: "import events --org ORG FILE.ndjson",
    summary:
      "import funnel events from a file with one JSON object per line: widgetId, visitId, step, at and optional fields",
    options: ["org"],
    positionals: 1,
    async run({ db, args, clock, tell }) {
      const organization = await requireOrganization(db, args.required("org"));
      const told = {
        checked: reportEvery(PROGRESS_LINES, (lines) => tell(`${lines} lines checked`)),
        recorded: reportEvery(PROGRESS_LINES, (lines) => tell(`${lines} lines recorded`)),
      };
      const result = await importEvents(db, organization.id, {
        read: () => readLines(args.positional[0] ?? ""),
        now: clock.now(),
        progress: (stage, count) => told[stage](count),
      });
      switch (result.kind) {
        case "imported": {
          const { imported, skipped } = result;
          return {
            text: `Imported ${pluralize(imported, "event")}; ${skipped} already existed.`,
            json: { imported, skipped },
          };
        }
        case "refused":
          throw nothingImported(result);
        case "changed":
          throw new UsageError(
            `The file changed during the import, near line ${result.line}. Earlier lines were imported. Run the command again.`,
          );
        default:
          return result satisfies never;
      }
    },
  },
  {
    name: "stats rebuild",
    usage: "stats rebuild --org ORG",
    summary: "recalculate an organization's analytics from its funnel events",
    options: ["org"],
    positionals: 0,
    async run({ db, args, clock, tell }) {
      const { id } = await requireOrganization(db, args.required("org"));
      const progress = reportEvery(PROGRESS_VISITS, (visits) => tell(`${visits} visits counted`));
      const visits = await rebuildPacks(db, id, { now: clock.now(), progress });
      return { text: `Recalculated the analytics of ${id} from ${pluralize(visits, "visit")}.`, json: { visits } };
    },
  },
];
