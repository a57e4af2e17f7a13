import { REPORT_PERIODS } from "#contract/app/reports.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import type { Deps } from "../deps.ts";
import { LoggableError } from "../lib/log/loggable-error.ts";
import { parseTimeZone } from "../lib/time/calendar.ts";
import type { Mail } from "../mail/mail.ts";
import { findDueStart, nextStart } from "./due-periods.ts";
import {
  type DueReport,
  listDueReportsAcrossOrganizations,
  listZonesAcrossOrganizations,
  moveBack,
  moveOn,
  takeReport,
} from "./queries.ts";
import { type Report, readReport } from "./read-report.ts";
import { renderReport } from "./render-report.ts";

// A report is sent once, by any number of workers:
//
//   take       one worker takes it; if that worker dies, another one takes it half an hour later
//   move on    the subscription moves on to the next period, before anything is sent
//   send       if the mail server certainly didn't accept it, the subscription moves back and the report is due again
//
// A worker that dies while it talks to the mail server leaves a report that may or may not have arrived. It is not sent again.

const BATCH = 50;
/** Longer than reading and sending one report takes. */
const TRY_AGAIN_MS = 30 * MINUTE_MS;

type ReportDeps = Pick<Deps, "db" | "clock" | "config" | "log"> & { readonly mail: Mail };
/** Members of an organization get the same report, so it is read once. */
type Reports = Map<string, Promise<Report | null>>;

/** Background task: emails the reports that are due. Needs a mail server. A failure in one does not stop the others. */
export async function sendReports(deps: ReportDeps, signal: AbortSignal): Promise<void> {
  if (!deps.mail.isOn) return;
  const now = deps.clock.now();
  const zones = await listZonesAcrossOrganizations(deps.db);
  const unknownZones = zones.filter((zone) => parseTimeZone(zone) === null);
  for (const zone of unknownZones) deps.log.error("report.zone_unknown", { timeZone: zone });
  const knownZones = zones.filter((zone) => !unknownZones.includes(zone));
  const due = knownZones.flatMap((zone) =>
    REPORT_PERIODS.map((period) => ({ zone, period, start: findDueStart(period, zone, now) })),
  );
  const triedBefore = new Date(now.getTime() - TRY_AGAIN_MS);
  const reports: Reports = new Map();
  let failed = 0;
  let lastError: unknown;
  for (const each of await listDueReportsAcrossOrganizations(deps.db, { due, triedBefore, limit: BATCH })) {
    if (signal.aborted) break;
    try {
      await takeAndSend(deps, each, { reports, triedBefore });
    } catch (error) {
      deps.log.error("report.failed", { organizationId: each.organization_id, error });
      failed += 1;
      lastError = error;
    }
  }
  if (failed + unknownZones.length > 0)
    throw new LoggableError("Reports that failed, and unknown time zones", {
      count: failed + unknownZones.length,
      cause: lastError,
    });
}

async function takeAndSend(
  deps: ReportDeps,
  due: DueReport,
  { reports, triedBefore }: { reports: Reports; triedBefore: Date },
): Promise<void> {
  const { organization_id: owner, period, start } = due;
  const takenAt = deps.clock.now();
  if (!(await takeReport(deps.db, owner, { ...due, now: takenAt, triedBefore }))) return;
  const key = [owner, period, start].join(" ");
  const reader = { organizationId: owner, plan: due.plan, timeZone: due.time_zone };
  const reading = reports.get(key) ?? readReport(deps, reader, { period, start });
  reports.set(key, reading);
  await sendOne(deps, due, { report: await reading, takenAt });
}

async function sendOne(
  { db, config, mail }: ReportDeps,
  due: DueReport,
  { report, takenAt }: { report: Report | null; takenAt: Date },
): Promise<void> {
  const { organization_id: owner, period, start } = due;
  if (!(await moveOn(db, owner, { ...due, takenAt, next: nextStart(period, start) })) || report === null) return;
  const page = `${config.baseUrl}/app/${owner}`;
  const { from, to } = report.analytics;
  const unsubscribe = `${config.baseUrl}/unsubscribe/${owner}/${due.token}`;
  const links = { analytics: `${page}/analytics?from=${from}&to=${to}`, endpoints: `${page}/webhooks`, unsubscribe };
  const { chart, ...content } = renderReport(report, due.organization_name, links);
  const outcome = await mail.sendOnce({
    to: due.email,
    purpose: { mail: "report", organizationId: owner },
    ...content,
    picture: { cid: chart.cid, content: chart.png },
    // RFC 8058: mail clients show a button of their own.
    headers: { "List-Unsubscribe": `<${unsubscribe}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
  });
  if (outcome === "failed") await moveBack(db, owner, { ...due, takenAt });
}
