import { REPORT_PERIODS } from "#contract/app/reports.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import type { Deps } from "../deps.ts";
import type { Mail } from "../mail/mail.ts";
import { findDueStart, nextStart } from "./due-periods.ts";
import { type DueReport, listDue, listZones, moveBack, moveOn, takeReport } from "./queries.ts";
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

type ReportDeps = Pick<Deps, "db" | "clock" | "config"> & { readonly mail: Mail };

/** Background task: emails the reports that are due. Needs a mail server. */
export async function sendReports(deps: ReportDeps, signal: AbortSignal): Promise<void> {
  if (!deps.mail.isOn) return;
  const now = deps.clock.now();
  const zones = await listZones(deps.db);
  const due = zones.flatMap((zone) =>
    REPORT_PERIODS.map((period) => ({ zone, period, start: findDueStart(period, zone, now) })),
  );
  const triedBefore = new Date(now.getTime() - TRY_AGAIN_MS);
  // Members of an organization get the same report.
  const reports = new Map<string, Report | null>();
  for (const each of await listDue(deps.db, { due, triedBefore, limit: BATCH })) {
    if (signal.aborted) return;
    const { organization_id: owner, period, start } = each;
    const takenAt = deps.clock.now();
    if (!(await takeReport(deps.db, owner, { ...each, now: takenAt, triedBefore }))) continue;
    const key = [owner, period, start].join(" ");
    if (!reports.has(key)) reports.set(key, await readReport(deps, { id: owner, plan: each.plan }, { period, start }));
    await sendOne(deps, each, { report: reports.get(key) ?? null, takenAt });
  }
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
    ...content,
    picture: { cid: chart.cid, content: chart.png },
    // RFC 8058: mail clients show a button of their own.
    headers: { "List-Unsubscribe": `<${unsubscribe}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
  });
  if (outcome === "failed") await moveBack(db, owner, { ...due, takenAt });
}
