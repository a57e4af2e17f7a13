import { existsSync } from "node:fs";
import { planIncludes } from "#contract/plans.ts";
import { exportDays } from "../export/export.ts";
import { parseExportTarget } from "../lib/text/export-target.ts";
import { addDays } from "../lib/time/calendar.ts";
import { examine, type Finding, sweepExpired } from "../operations/operations.ts";
import { requireOrganization } from "./arguments.ts";
import { type Command, pluralize, UsageError } from "./command.ts";
import { reportEvery } from "./read-lines.ts";

const BROWSER_FILES = new URL("../../../dist/made-from", import.meta.url);
const MARKS: Record<Finding["state"], string> = { ok: "ok  ", warning: "warn", fault: "FAIL" };

export const DOCTOR_COMMAND: Command = {
  name: "doctor",
  usage: "doctor",
  summary:
    "check settings, database, mail, clock, queue and more, and suggest fixes; exits with 1 if something is broken",
  options: [],
  positionals: 0,
  async run(context) {
    const findings = await examine({ ...context, hasBrowserFiles: existsSync(BROWSER_FILES) });
    return {
      text: findings.map(({ check, state, message }) => `${MARKS[state]}  ${check}: ${message}`).join("\n"),
      json: findings,
      exitCode: findings.some(({ state }) => state === "fault") ? 1 : 0,
    };
  },
};

export const MIGRATE_COMMAND: Command = {
  name: "migrate",
  usage: "migrate [--distribute]",
  summary:
    "migrate the database (also happens at every start); --distribute spreads it over the servers of a Citus cluster",
  options: [],
  flags: ["distribute"],
  positionals: 0,
  async run({ applied }) {
    const text = applied.length === 0 ? "The database is up to date." : `Applied ${applied.join(", ")}.`;
    return { text, json: { applied } };
  },
};

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

/** Writing this many days takes a few seconds. */
const PROGRESS_DAYS = 100;

export const EXPORT_COMMAND: Command = {
  name: "export",
  usage: "export --to DIR|s3://BUCKET/PREFIX [--org ORG] [--from DAY]",
  summary:
    "write the finished days that are missing there as NDJSON: bookings, changes, deletions and daily totals of one or all organizations on the Business plan",
  options: ["to", "org", "from"],
  positionals: 0,
  async run(context) {
    const { db, args, tell } = context;
    const to = args.required("to");
    if (parseExportTarget(to) === null) throw new UsageError("--to must be a folder or s3://BUCKET/PREFIX.");
    const from = args.option("from");
    if (from !== null && addDays(from, 0) !== from) throw new UsageError("--from must be a day such as 2026-11-01.");
    const org = args.option("org");
    const organization = org === null ? null : await requireOrganization(db, org);
    if (organization && !planIncludes(organization.plan, "readApi"))
      throw new UsageError(`${organization.id} isn't on the Business plan, which exports require.`);
    const onDay = reportEvery(PROGRESS_DAYS, (days) => tell(`${days} days written`));
    const exported = await exportDays(context, { to, owner: organization?.id, from, onDay });
    const { organizations, days, files, busy } = exported;
    const others = busy === 0 ? "" : ` Another process is exporting ${pluralize(busy, "organization")}.`;
    const text = `Wrote ${pluralize(files, "file")} about ${pluralize(days, "day")} of ${pluralize(organizations, "organization")}.${others}`;
    return { text, json: exported, exitCode: busy === 0 ? 0 : 1 };
  },
};
