import { ApiError } from "./errors.ts";
import { type Connection, getJson } from "./get-json.ts";
import { refuseBrowsers } from "./refuse-browsers.ts";
import type { Analytics, Booking, BookingPage, Widget } from "./types.ts";

export type ClientOptions = {
  /** An API key of an organization on the Business plan: `svc_live_` and what follows. */
  apiKey: string;
  /** Where Bookflow is, for example `https://bookings.example.com`. */
  baseUrl: string;
  /** Instead of the global fetch: for a proxy, or for tests. */
  fetch?: typeof fetch;
  /** How often a request is tried again after no answer, 429 or 5xx. Default 5. */
  retries?: number;
  /** How long one request may take, its whole answer included. Default 30,000. */
  timeoutMs?: number;
};

type Stoppable = { signal?: AbortSignal | undefined };

export type BookingsQuery = Stoppable & {
  /** Created at or after this time. A text is sent as it is. */
  since?: Date | string | undefined;
  /** Created before this time. */
  until?: Date | string | undefined;
  /** Only this widget's bookings. */
  widget?: string | undefined;
  /** How many bookings come with one request, 1 to 500. Default 100. It does not limit how many come in all. */
  limit?: number | undefined;
  /** The `nextCursor` of a page, to go on after it. It replaces `until`. */
  cursor?: string | undefined;
};

/** Bookings, newest first. Requests are made while it is iterated over; each iteration starts anew. */
export type BookingList = AsyncIterable<Booking> & {
  /** The same page by page, at least one. */
  pages(): AsyncIterable<BookingPage>;
};

export type Client = {
  /** All widgets of the organization, newest first. */
  widgets(options?: Stoppable): Promise<Widget[]>;
  bookings(query?: BookingsQuery): BookingList;
  analytics(query?: Stoppable & { days?: number | undefined; widget?: string | undefined }): Promise<Analytics>;
};

const RETRIES_DEFAULT = 5;
const TIMEOUT_MS_DEFAULT = 30_000;

export function createClient(options: ClientOptions): Client {
  refuseBrowsers();
  const connection = toConnection(options);
  return {
    async widgets({ signal } = {}) {
      const { data } = await getJson<{ data: Widget[] }>(connection, { path: "/widgets", signal });
      return data;
    },
    bookings(query = {}) {
      const pages = () => readPages(connection, query);
      return { pages, [Symbol.asyncIterator]: () => readBookings(pages()) };
    },
    async analytics({ signal, ...query } = {}) {
      return await getJson<Analytics>(connection, { path: "/analytics", query, signal });
    },
  };
}

async function* readPages(
  connection: Connection,
  { signal, ...query }: BookingsQuery,
): AsyncGenerator<BookingPage, void, undefined> {
  let cursor = query.cursor;
  for (;;) {
    const page = await getJson<BookingPage>(connection, { path: "/bookings", query: { ...query, cursor }, signal });
    yield page;
    if (page.nextCursor === null) return;
    assertMoved(page.nextCursor, cursor);
    cursor = page.nextCursor;
  }
}

async function* readBookings(pages: AsyncIterable<BookingPage>): AsyncGenerator<Booking, void, undefined> {
  for await (const page of pages) yield* page.data;
}

/** Something in between that leaves parameters out would lead round in circles. */
function assertMoved(next: string, current: string | undefined): void {
  if (next !== current) return;
  const message = "The next page is the same page again; something before Bookflow drops the parameter cursor.";
  throw new ApiError({ code: "unexpected_answer", message, status: 200, requestId: null, retryAfterSeconds: null });
}

function toConnection(options: ClientOptions): Connection {
  const { apiKey, baseUrl, retries = RETRIES_DEFAULT, timeoutMs = TIMEOUT_MS_DEFAULT } = options;
  // The key itself is not shown: messages end up in logs.
  if (typeof apiKey !== "string" || !/^svc_live_[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError(
      "apiKey must be an API key of Bookflow, svc_live_ and what follows, without spaces or line ends.",
    );
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError("retries must be a whole number from 0.");
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) throw new TypeError("timeoutMs must be a number above 0.");
  // Not kept from the beginning: what replaces the global fetch later, such as a tracer, is meant to be used.
  const ask: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  return { apiKey, baseUrl: parseBaseUrl(baseUrl), retries, timeoutMs, fetch: ask };
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUsable = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isUsable)
    throw new TypeError("baseUrl must be the web address of Bookflow, such as https://bookings.example.com.");
  return url.href.replace(/\/+$/, "");
}
