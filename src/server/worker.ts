import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import { sweepAccounts } from "./accounts/auth/session-queries.ts";
import { packOutdated } from "./analytics/analytics.ts";
import { followAppointments } from "./bookings/changes/follow-appointments.ts";
import { pollConnections } from "./bookings/changes/poll-connections.ts";
import { writeMissingEvents } from "./bookings/flow/keep-booking.ts";
import { settleOverdue } from "./bookings/flow/settle-overdue.ts";
import type { ServiceDeps } from "./create-deps.ts";
import { exportNightly } from "./export/export.ts";
import { repeat } from "./lib/concurrency/pause.ts";
import { sweepExpired } from "./operations/retention.ts";
import { sendReports } from "./reports/send-reports.ts";
import { readBookingPages } from "./scheduler/connections/connections.ts";
import { keepSubscriptions } from "./scheduler/notices/keep-subscriptions.ts";
import { DeliveryLoop } from "./webhooks/delivery/loop.ts";
import { mailNotices } from "./webhooks/health/mail-notices.ts";
import { runRedeliveries } from "./webhooks/log/bulk-redelivery.ts";
import { addUpAttempts } from "./webhooks/log/statistics.ts";

export type Task = {
  readonly name: string;
  readonly periodMs: number;
  /** Its statements may take long, so they have no time limit. */
  readonly isLong?: true;
  readonly run: (deps: ServiceDeps, signal: AbortSignal) => Promise<unknown>;
};

/** All background tasks. Any number of workers may run each task at the same time. */
export const TASKS: readonly Task[] = [
  { name: "retention", periodMs: HOUR_MS, isLong: true, run: sweepExpired },
  { name: "expired-sign-ins", periodMs: HOUR_MS, isLong: true, run: sweepAccounts },
  { name: "visit-packs", periodMs: MINUTE_MS, isLong: true, run: packOutdated },
  { name: "attempt-totals", periodMs: HOUR_MS, isLong: true, run: addUpAttempts },
  { name: "overdue-bookings", periodMs: 5 * SECOND_MS, run: settleOverdue },
  { name: "booking-pages", periodMs: 10 * MINUTE_MS, run: readBookingPages },
  { name: "subscriptions", periodMs: 10 * SECOND_MS, run: keepSubscriptions },
  { name: "connection-polls", periodMs: 10 * SECOND_MS, run: pollConnections },
  { name: "appointment-checks", periodMs: 2 * SECOND_MS, run: followAppointments },
  { name: "missing-events", periodMs: 10 * SECOND_MS, run: writeMissingEvents },
  { name: "redeliveries", periodMs: SECOND_MS, run: runRedeliveries },
  { name: "notice-mails", periodMs: 10 * SECOND_MS, run: mailNotices },
  { name: "export", periodMs: HOUR_MS, isLong: true, run: exportNightly },
  { name: "reports", periodMs: MINUTE_MS, isLong: true, run: sendReports },
];

/** Starts these tasks and the delivery loop. `stop` lets the current runs end at their next safe point and waits for them. */
export function startWorker(deps: ServiceDeps, tasks: readonly Task[]): { stop(): Promise<void> } {
  const stopping = new AbortController();
  // Initialise the counters to 0, so that `increase()` notices the first failure.
  for (const { name } of tasks) deps.metrics.taskRuns.inc({ task: name, outcome: "failed" }, 0);
  const loops = tasks.map((task) =>
    repeat({ periodMs: task.periodMs, signal: stopping.signal }, () => runTask(deps, task, stopping.signal)),
  );
  const deliveries = new DeliveryLoop(deps);
  deliveries.start();
  return {
    async stop() {
      stopping.abort();
      await Promise.all([...loops, deliveries.stop().then(() => deps.webhooks.send.close())]);
    },
  };
}

/** A failing run is logged and counted, and the task runs again a period later. */
async function runTask(deps: ServiceDeps, task: Task, signal: AbortSignal): Promise<void> {
  const startedAt = deps.clock.now();
  const measure = deps.metrics.taskDuration.startTimer({ task: task.name });
  try {
    await task.run(task.isLong ? { ...deps, db: deps.longRunningDb } : deps, signal);
    deps.metrics.taskRuns.inc({ task: task.name, outcome: "succeeded" });
    deps.metrics.taskLastSuccess.set({ task: task.name }, deps.clock.now().getTime() / 1000);
    deps.log.debug("task.finished", { task: task.name, durationMs: deps.clock.now().getTime() - startedAt.getTime() });
  } catch (error) {
    deps.metrics.taskRuns.inc({ task: task.name, outcome: "failed" });
    deps.log.error("task.failed", { task: task.name, error });
  } finally {
    measure();
  }
}
