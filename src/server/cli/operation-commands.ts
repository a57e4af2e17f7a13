import { existsSync } from "node:fs";
import { examine, type Finding, sweepExpired } from "../operations/operations.ts";
import { type Command, pluralize } from "./command.ts";

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
