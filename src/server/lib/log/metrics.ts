import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

// Every metric of the service. Each start has its own registry, so tests share no counts except those of Node itself.

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  // A copy, so that only Node's metrics are shared.
  const registry = Registry.merge([collectNodeMetrics()]);
  const registers = [registry];
  const watchers: (() => void)[] = [];
  return {
    registry,
    /** Calls `set` before each scrape, for gauges that show a current state. */
    watch(set: () => void): void {
      watchers.push(set);
    },
    async read(): Promise<string> {
      for (const set of watchers) set();
      return await registry.metrics();
    },
    ...createProcessMetrics(registers),
    ...createDatabaseMetrics(registers),
    ...createBookingMetrics(registers),
    ...createDeliveryMetrics(registers),
    ...createQueueMetrics(registers),
    ...createEndpointMetrics(registers),
  };
}

let nodeMetrics: Registry | null = null;

/** Node's metrics, collected once per process: each collection keeps a timer that fires a hundred times a second. */
function collectNodeMetrics(): Registry {
  if (nodeMetrics) return nodeMetrics;
  nodeMetrics = new Registry();
  collectDefaultMetrics({ register: nodeMetrics });
  return nodeMetrics;
}

function createProcessMetrics(registers: Registry[]) {
  return {
    httpRequests: new Histogram({
      name: "bookflow_http_request_duration_seconds",
      help: "Time from receiving a request to the end of its response, by route.",
      labelNames: ["method", "route", "status"] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    taskRuns: new Counter({
      name: "bookflow_task_runs_total",
      help: "Runs of background tasks, by task and outcome.",
      labelNames: ["task", "outcome"] as const,
      registers,
    }),
    taskDuration: new Histogram({
      name: "bookflow_task_duration_seconds",
      help: "Duration of background task runs, by task.",
      labelNames: ["task"] as const,
      buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1_800],
      registers,
    }),
    taskLastSuccess: new Gauge({
      name: "bookflow_task_last_success_timestamp_seconds",
      help: "Time of the last successful run of each background task in this process.",
      labelNames: ["task"] as const,
      registers,
    }),
    unhandledRejections: new Counter({
      name: "bookflow_unhandled_rejections_total",
      help: "Rejected promises that no code handled. Each one is a bug; report it with its log line.",
      registers,
    }),
    mails: new Counter({
      name: "bookflow_mails_total",
      help: "Emails by outcome. Notices and reports are retried; invitations and password resets are not. not_sent: SMTP_URL is not set.",
      labelNames: ["outcome"] as const,
      registers,
    }),
    expiredRows: new Counter({
      name: "bookflow_expired_rows_total",
      help: "Rows deleted at the end of their retention, by kind.",
      labelNames: ["kind"] as const,
      registers,
    }),
  };
}

function createDatabaseMetrics(registers: Registry[]) {
  return {
    databaseConnections: new Gauge({
      name: "bookflow_database_connections",
      help: "PostgreSQL connections of this process, by state.",
      labelNames: ["state"] as const,
      registers,
    }),
    databaseConnectionsMax: new Gauge({
      name: "bookflow_database_connections_max",
      help: "Maximum number of connections this process opens.",
      registers,
    }),
    databaseSilent: new Gauge({
      name: "bookflow_database_silent",
      help: "1 while the database (postgresql or citus) does not respond to this process; requests that need it get 503.",
      labelNames: ["engine"] as const,
      registers,
    }),
    databaseWaiting: new Gauge({
      name: "bookflow_database_waiting_statements",
      help: "Statements and transactions of this process waiting for a connection.",
      registers,
    }),
  };
}

function createBookingMetrics(registers: Registry[]) {
  return {
    bookings: new Counter({
      name: "bookflow_bookings_total",
      help: "Booking requests by outcome.",
      labelNames: ["outcome"] as const,
      registers,
    }),
    bookingsUnsettled: new Gauge({
      name: "bookflow_bookings_unsettled",
      help: "Bookings whose outcome is still unknown, across all processes.",
      registers,
    }),
    bookingsOldestUnsettledSeconds: new Gauge({
      name: "bookflow_bookings_oldest_unsettled_seconds",
      help: "Age of the oldest booking whose outcome is unknown. Stays below 35 minutes while workers are running and scheduling systems respond.",
      registers,
    }),
    bookingDuration: new Histogram({
      name: "bookflow_scheduler_booking_duration_seconds",
      help: "Time scheduling systems took to book, by system and outcome. unknown: the response was lost.",
      labelNames: ["system", "outcome"] as const,
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers,
    }),
    funnelQueue: new Gauge({
      name: "bookflow_funnel_queue_requests",
      help: "Requests with funnel events waiting for their commit in this process.",
      registers,
    }),
    funnelEvents: new Counter({
      name: "bookflow_funnel_events_total",
      help: "Funnel events received, by outcome. An unreadable request counts as one.",
      labelNames: ["outcome"] as const,
      registers,
    }),
  };
}

function createDeliveryMetrics(registers: Registry[]) {
  return {
    deliveryAttempts: new Counter({
      name: "bookflow_delivery_attempts_total",
      help: "Delivery attempts by endpoint kind, result and error code.",
      labelNames: ["kind", "result", "error"] as const,
      registers,
    }),
    deliveryDuration: new Histogram({
      name: "bookflow_delivery_duration_seconds",
      help: "Response time of receivers, by endpoint kind.",
      labelNames: ["kind"] as const,
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers,
    }),
    deliveriesEnded: new Counter({
      name: "bookflow_deliveries_ended_total",
      help: "Deliveries that were delivered or given up, by endpoint kind and outcome.",
      labelNames: ["kind", "outcome"] as const,
      registers,
    }),
    leasesExpired: new Counter({
      name: "bookflow_delivery_leases_expired_total",
      help: "Deliveries whose worker died before it could report the outcome.",
      registers,
    }),
    fanOutFailures: new Counter({
      name: "bookflow_fan_out_failures_total",
      help: "Bookings stored without their webhook event; a task writes the event later.",
      registers,
    }),
  };
}

function createQueueMetrics(registers: Registry[]) {
  return {
    deliveriesWaiting: new Gauge({
      name: "bookflow_deliveries_waiting",
      help: "Deliveries waiting for their first attempt or a retry.",
      registers,
    }),
    deliveriesInFlight: new Gauge({
      name: "bookflow_deliveries_in_flight",
      help: "Deliveries whose attempt has begun and is not recorded yet, across all workers.",
      registers,
    }),
    deliveriesOldestDueSeconds: new Gauge({
      name: "bookflow_deliveries_oldest_due_seconds",
      help: "How long the oldest due delivery has been due, whatever the reason.",
      registers,
    }),
    deliveriesOverdueSeconds: new Gauge({
      name: "bookflow_deliveries_overdue_seconds",
      help: "How long the oldest delivery that could be sent has been waiting. Near 0 while workers keep up.",
      registers,
    }),
  };
}

function createEndpointMetrics(registers: Registry[]) {
  return {
    endpointsDisabled: new Counter({
      name: "bookflow_endpoints_disabled_total",
      help: "Endpoints turned off because the receiver is gone or kept failing, by reason.",
      labelNames: ["reason"] as const,
      registers,
    }),
    endpointNotices: new Counter({
      name: "bookflow_endpoint_notices_total",
      help: "Notices about endpoints, by kind.",
      labelNames: ["kind"] as const,
      registers,
    }),
  };
}
