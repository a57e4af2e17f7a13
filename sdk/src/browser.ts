import { refuse } from "./refuse-browsers.ts";

// Bundlers for web pages use this instead of index.ts: the same names, each of which throws a clear error.

export { ApiError, BookflowError, ConnectionError, WebhookError } from "./errors.ts";
export { refuse as createClient, refuse as syncBookings, refuse as verifyWebhook };
