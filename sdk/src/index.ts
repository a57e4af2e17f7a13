// The package's public API.

export {
  type BookingList,
  type BookingsQuery,
  type BreakdownQuery,
  type ChangeList,
  type ChangesQuery,
  type Client,
  type ClientOptions,
  createClient,
  type DeletionList,
  type DeletionsQuery,
  type EventList,
  type EventsQuery,
  type List,
  type ListOperation,
  type ManageRequest,
  type ManageResponse,
  type Operation,
} from "./client.ts";
export {
  ApiError,
  type ApiErrorCode,
  BookflowError,
  ConnectionError,
  type ConnectionErrorCode,
  WebhookError,
  type WebhookErrorCode,
} from "./errors.ts";
export { type BookingStore, type SyncOptions, syncBookings } from "./sync-bookings.ts";
export type * from "./types.ts";
export { verifyWebhook } from "./verify-webhook.ts";
