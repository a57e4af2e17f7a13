import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

// Every metric of the service, each made once here. A registry per process start, so that tests do not share counts.

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const watchers: (() => void)[] = [];
  return {
    registry,
    /** `set` is called before each reading: for gauges of what is there at that moment. */
    watch(set: () => void): void {
      watchers.push(set);
    },
    /** Everything, as Prometheus reads it. */
    async read(): Promise<string> {
      for (const set of watchers) set();
      return await registry.metrics();
    },
    httpRequests: new Histogram({
      name: "bookflow_http_request_duration_seconds",
      help: "Time from a request's arrival to the end of its answer, by route pattern.",
      labelNames: ["method", "route", "status"] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    taskRuns: new Counter({
      name: "bookflow_task_runs_total",
      help: "Runs of background tasks, by task and outcome.",
      labelNames: ["task", "outcome"] as const,
      registers: [registry],
    }),
    taskDuration: new Histogram({
      name: "bookflow_task_duration_seconds",
      help: "How long runs of background tasks took, by task.",
      labelNames: ["task"] as const,
      buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1_800],
      registers: [registry],
    }),
    taskLastSuccess: new Gauge({
      name: "bookflow_task_last_success_timestamp_seconds",
      help: "When a background task last ended well, by task; of this process.",
      labelNames: ["task"] as const,
      registers: [registry],
    }),
    bookings: new Counter({
      name: "bookflow_bookings_total",
      help: "Bookings that visitors asked for, by what became of them.",
      labelNames: ["outcome"] as const,
      registers: [registry],
    }),
    bookingsUnsettled: new Gauge({
      name: "bookflow_bookings_unsettled",
      help: "Bookings whose outcome is not known yet, over all processes.",
      registers: [registry],
    }),
    bookingsOldestUnsettledSeconds: new Gauge({
      name: "bookflow_bookings_oldest_unsettled_seconds",
      help: "How long the first of them has waited; a quarter of an hour at most while workers do their work.",
      registers: [registry],
    }),
    bookingDuration: new Histogram({
      name: "bookflow_scheduler_booking_duration_seconds",
      help: "How long scheduling systems took to book, by kind of system and outcome; unknown: the reply was lost.",
      labelNames: ["system", "outcome"] as const,
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers: [registry],
    }),
    funnelQueue: new Gauge({
      name: "bookflow_funnel_queue_requests",
      help: "Requests with funnel events that wait for their commit, in this process.",
      registers: [registry],
    }),
    databaseConnections: new Gauge({
      name: "bookflow_database_connections",
      help: "Connections of this process to PostgreSQL, by state.",
      labelNames: ["state"] as const,
      registers: [registry],
    }),
    databaseConnectionsMax: new Gauge({
      name: "bookflow_database_connections_max",
      help: "Most connections that this process opens.",
      registers: [registry],
    }),
    databaseSilent: new Gauge({
      name: "bookflow_database_silent",
      help: "1 while PostgreSQL does not answer this process, and every request that needs it gets 503.",
      registers: [registry],
    }),
    databaseWaiting: new Gauge({
      name: "bookflow_database_waiting_statements",
      help: "Statements and transactions of this process that wait for a connection.",
      registers: [registry],
    }),
    unhandledRejections: new Counter({
      name: "bookflow_unhandled_rejections_total",
      help: "Failures that no code was waiting for: a bug, to be reported with its log line.",
      registers: [registry],
    }),
    funnelEvents: new Counter({
      name: "bookflow_funnel_events_total",
      help: "Funnel events that browsers sent, by what became of them; a request that cannot be read counts as one.",
      labelNames: ["outcome"] as const,
      registers: [registry],
    }),
    deliveryAttempts: new Counter({
      name: "bookflow_delivery_attempts_total",
      help: "Attempts to deliver, by endpoint kind, result and error code.",
      labelNames: ["kind", "result", "error"] as const,
      registers: [registry],
    }),
    deliveryDuration: new Histogram({
      name: "bookflow_delivery_duration_seconds",
      help: "How long receivers took to answer, by endpoint kind.",
      labelNames: ["kind"] as const,
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers: [registry],
    }),
    deliveriesEnded: new Counter({
      name: "bookflow_deliveries_ended_total",
      help: "Deliveries that arrived or were given up, by endpoint kind and outcome.",
      labelNames: ["kind", "outcome"] as const,
      registers: [registry],
    }),
    leasesExpired: new Counter({
      name: "bookflow_delivery_leases_expired_total",
      help: "Deliveries whose sender ended before it could say how it went.",
      registers: [registry],
    }),
    fanOutFailures: new Counter({
      name: "bookflow_fan_out_failures_total",
      help: "Bookings stored without their webhook event, which a task then writes.",
      registers: [registry],
    }),
    endpointsDisabled: new Counter({
      name: "bookflow_endpoints_disabled_total",
      help: "Endpoints switched off because their receiver is gone or kept failing, by reason.",
      labelNames: ["reason"] as const,
      registers: [registry],
    }),
    endpointNotices: new Counter({
      name: "bookflow_endpoint_notices_total",
      help: "Notices to the owners of endpoints, by kind.",
      labelNames: ["kind"] as const,
      registers: [registry],
    }),
    deliveriesWaiting: new Gauge({
      name: "bookflow_deliveries_waiting",
      help: "Deliveries that wait for their first attempt or a retry.",
      registers: [registry],
    }),
    deliveriesInFlight: new Gauge({
      name: "bookflow_deliveries_in_flight",
      help: "Deliveries being sent, over all workers.",
      registers: [registry],
    }),
    deliveriesOldestDueSeconds: new Gauge({
      name: "bookflow_deliveries_oldest_due_seconds",
      help: "How long the first delivery that is due has been due, for whatever reason it has not been sent.",
      registers: [registry],
    }),
    deliveriesOverdueSeconds: new Gauge({
      name: "bookflow_deliveries_overdue_seconds",
      help: "How long a delivery that could be sent has not been; near 0 while workers do their work.",
      registers: [registry],
    }),
    mails: new Counter({
      name: "bookflow_mails_total",
      help: "Mails by outcome. Links to join or to set a password are not tried twice, notices are. not_sent: SMTP_URL is unset.",
      labelNames: ["outcome"] as const,
      registers: [registry],
    }),
    expiredRows: new Counter({
      name: "bookflow_expired_rows_total",
      help: "Rows deleted because their retention ended, by kind.",
      labelNames: ["kind"] as const,
      registers: [registry],
    }),
  };
}
