// What other slices use of webhooks.

export { findDeliveryOwner, findEndpointOwner } from "./endpoints/queries.ts";
export { toEndpointName } from "./endpoints/to-app-endpoint.ts";
export { toLogKeptSince } from "./log/queries.ts";
export {
  deleteExpiredAttempts,
  deleteExpiredEvents,
  deleteExpiredNotices,
  deleteExpiredRedeliveries,
  deleteExpiredTotals,
  deletePreviousSecrets,
  deleteRemovedEndpoints,
} from "./log/retention.ts";
export { listBookingDeliveries, readFailingDeliveries } from "./log/to-app-delivery.ts";
export { deleteDeliveries, eraseDeliveries, fanOutErased } from "./outbox/erase.ts";
export type { BookingFacts } from "./outbox/event.ts";
export { fanOut, fanOutSafely } from "./outbox/outbox.ts";
export { wakeWorkers } from "./outbox/wake-workers.ts";
export { OVERDUE_SECONDS_MAX, observeQueue } from "./queue/measure.ts";
