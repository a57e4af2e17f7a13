import { refuse } from "./refuse-browsers.ts";

// What bundlers take for web pages instead of index.ts: the same names, and a clear refusal behind each.

export { ApiError, BookflowError, ConnectionError, WebhookError } from "./errors.ts";
export { refuse as createClient, refuse as syncBookings, refuse as verifyWebhook };
