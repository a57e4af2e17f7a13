// What other slices use of webhooks.

export { findDeliveryOwner, findEndpointOwner } from "./endpoints/queries.ts";
export { toEndpointName } from "./endpoints/shown-url.ts";
export { listBookingDeliveries } from "./log/booking-deliveries.ts";
export { readFailingDeliveries } from "./log/failing.ts";
export { toLogKeptSince } from "./log/period.ts";
export {
  deleteExpiredAttempts,
  deleteExpiredEvents,
  deleteExpiredNotices,
  deleteExpiredRedeliveries,
  deleteExpiredTotals,
  deletePreviousSecrets,
  deleteRemovedEndpoints,
} from "./log/retention.ts";
export { deleteDeliveries, eraseDeliveries } from "./outbox/erase.ts";
export { fanOutErased } from "./outbox/erased.ts";
export type { BookingFacts } from "./outbox/event.ts";
export { fanOut, fanOutSafely } from "./outbox/outbox.ts";
export { wakeWorkers } from "./outbox/wake-workers.ts";
export { OVERDUE_SECONDS_MAX, observeQueue } from "./queue/observe.ts";
