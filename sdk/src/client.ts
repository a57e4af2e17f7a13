import { randomUUID } from "node:crypto";
import { ApiError } from "./errors.ts";
import { OPERATIONS, type Operations } from "./operations.ts";
import { refuseBrowsers } from "./refuse-browsers.ts";
import { type Connection, type Query, type Request, sendRequest } from "./send-request.ts";
import type {
  Analytics,
  AnalyticsEntry,
  AnonymousBooking,
  Booking,
  Breakdown,
  Change,
  Deletion,
  EventTypeList,
  WebhookEventPage,
  Widget,
} from "./types.ts";

export type ClientOptions = {
  /** An API key, `svc_live_…`, of an organization on the Business plan. */
  apiKey: string;
  /** The address of Bookflow, for example `https://bookings.example.com`. */
  baseUrl: string;
  /** Replaces the global fetch, for example to use a proxy. */
  fetch?: typeof fetch;
  /** How often a request is retried after a connection error, 429 or 5xx. Default 5. */
  retries?: number;
  /** Time limit of one request, including its body. Default 30,000. */
  timeoutMs?: number;
};

type Stoppable = { signal?: AbortSignal | undefined };

export type BookingsQuery = Stoppable & {
  /** Created at or after this time. Strings are sent unchanged. */
  since?: Date | string | undefined;
  /** Created before this time. */
  until?: Date | string | undefined;
  /** Only this widget's bookings. */
  widget?: string | undefined;
  /** Page size, 1 to 500. Default 100. It does not limit the total. */
  limit?: number | undefined;
  /** The `nextCursor` of a page, to continue after it. It replaces `until`. */
  cursor?: string | undefined;
};

export type DeletionsQuery = Stoppable & Pick<BookingsQuery, "since" | "limit" | "cursor">;

export type EventsQuery = Stoppable & {
  /** Created at or after this time, for the first request. A cursor replaces it. */
  since?: Date | string | undefined;
  /** Only events of this type. */
  type?: ListedEvent["type"] | undefined;
  /** Page size, 1 to 500. Default 100. It does not limit the total. */
  limit?: number | undefined;
  /** The `nextCursor` of an earlier page, to continue after it. */
  cursor?: string | undefined;
};

type ListedEvent = WebhookEventPage["data"][number];

export type ChangesQuery = DeletionsQuery;

/** Iterating sends the requests; each iteration starts from the beginning. */
export type List<Item, Page = CursorPage<Item>> = AsyncIterable<Item> & {
  /** The same items page by page; at least one page. */
  pages(): AsyncIterable<Page>;
};

/** Events, oldest first. Save the last page's `nextCursor` to continue from there the next time. */
export type EventList = List<ListedEvent, WebhookEventPage>;
/** Changes of appointments, newest first. */
export type ChangeList = List<Change>;
/** Deletions, newest first. */
export type DeletionList = List<Deletion>;
/** Bookings, newest first. */
export type BookingList<Read = Booking> = List<Read>;

export type Client = {
  /** All widgets of the organization, newest first. */
  widgets(options?: Stoppable): Promise<Widget[]>;
  /** With a key that has only `bookings.anonymous`: `bookings<AnonymousBooking>()`. */
  bookings<Read extends AnonymousBooking = Booking>(query?: BookingsQuery): BookingList<Read>;
  /** One booking. */
  booking<Read extends AnonymousBooking = Booking>(reference: string, options?: Stoppable): Promise<Read>;
  /** Appointments that were cancelled or moved; `since` is when Bookflow recorded it. */
  changes(query?: ChangesQuery): ChangeList;
  /** Bookings that were deleted; `since` is when. */
  deletions(query?: DeletionsQuery): DeletionList;
  /** The events of the last 30 days, as webhooks receive them, in the order in which they became visible. */
  events(query?: EventsQuery): EventList;
  /** Every type of event that webhooks receive, with its JSON Schema and an example. */
  eventTypes(options?: Stoppable): Promise<EventTypeList["data"]>;
  analytics(query?: Stoppable & { days?: number | undefined; widget?: string | undefined }): Promise<Analytics>;
  /** Views and bookings by one dimension, all pages. */
  breakdown(query: BreakdownQuery): List<AnalyticsEntry, Breakdown>;
  /**
   * An operation of the management API, by its name in the API reference: its IDs, `body` and `query`. What creates, sends or rotates
   * something gets an Idempotency-Key, the same in every retry.
   */
  manage<Name extends Operation>(
    operation: Name,
    ...request: Record<never, never> extends ManageRequest<Name>
      ? [request?: ManageRequest<Name>]
      : [request: ManageRequest<Name>]
  ): Promise<ManageResponse<Name>>;
  /** A list of the management API, all pages: `list("listDeliveries", { query: { state: "failed" } })`. */
  list<Name extends ListOperation>(operation: Name, request?: ManageRequest<Name>): List<ListedBy<Name>>;
};

/** The name of an operation of the management API. */
export type Operation = keyof Operations;
export type ManageRequest<Name extends Operation> = Operations[Name]["request"] &
  Stoppable & { idempotencyKey?: string | undefined };
export type ManageResponse<Name extends Operation> = Operations[Name]["response"];
/** The name of an operation that answers with a page of a list. */
export type ListOperation = {
  [Name in Operation]: ManageResponse<Name> extends CursorPage<unknown> ? Name : never;
}[Operation];
type ListedBy<Name extends ListOperation> = ManageResponse<Name>["data"][number];

type Keys = string | readonly string[] | undefined;
type Dimension = Breakdown["dimension"];

type FilterName = Dimension | "weekday" | "hour" | "leadTime";

/** Filters are named like dimensions: `country: "DE"`, `notDevice: ["tablet", "mobile"]`, `weekday: "monday"`, `leadTime: "2-3"`. */
export type BreakdownQuery = Stoppable & {
  dimension: Dimension;
  /** The last days, 1 to 730. Default 30. */
  days?: number | undefined;
  /** First and last day, such as 2026-11-01, instead of `days`. */
  from?: string | undefined;
  to?: string | undefined;
  /** Page size, 1 to 500. Default 100. It does not limit the total. */
  limit?: number | undefined;
} & { [Name in FilterName | `not${Capitalize<FilterName>}`]?: Keys };

const RETRIES_DEFAULT = 5;
const TIMEOUT_MS_DEFAULT = 30_000;

export function createClient(options: ClientOptions): Client {
  refuseBrowsers();
  const connection = toConnection(options);
  return {
    async widgets({ signal } = {}) {
      const { data } = await sendRequest<{ data: Widget[] }>(connection, { path: "/widgets", signal });
      return data;
    },
    bookings: <Read>(query: BookingsQuery = {}) => listFrom<Read>(connection, toRequest("/bookings", query)),
    async booking<Read>(reference: string, { signal }: Stoppable = {}) {
      return await sendRequest<Read>(connection, { path: `/bookings/${encodeURIComponent(reference)}`, signal });
    },
    changes: (query = {}) => listFrom<Change>(connection, toRequest("/changes", query)),
    deletions: (query = {}) => listFrom<Deletion>(connection, toRequest("/deletions", query)),
    events: (query = {}) => listFrom<ListedEvent, WebhookEventPage>(connection, toRequest("/events", query)),
    async eventTypes({ signal } = {}) {
      const { data } = await sendRequest<EventTypeList>(connection, { path: "/event-types", signal });
      return data;
    },
    async analytics({ signal, ...query } = {}) {
      return await sendRequest<Analytics>(connection, { path: "/analytics", query, signal });
    },
    breakdown: (query) => listFrom<AnalyticsEntry, Breakdown>(connection, toRequest("/analytics/breakdown", query)),
    async manage(operation, ...[request]) {
      return await sendRequest(connection, toManageRequest(operation, request ?? {}));
    },
    list: (operation, request = {}) => listFrom(connection, toManageRequest(operation, request)),
  };
}

type AnyRequest = Stoppable & { idempotencyKey?: string | undefined; body?: object; query?: Query };

function toManageRequest(
  operation: Operation,
  { signal, idempotencyKey, body, query = {}, ...ids }: AnyRequest,
): Request {
  const found: { method: string; path: string; hasIdempotencyKey?: true } | null = Object.hasOwn(OPERATIONS, operation)
    ? OPERATIONS[operation]
    : null;
  if (!found) throw new TypeError(`There is no operation ${operation}.`);
  const path = found.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = (ids as Record<string, unknown>)[name];
    if (typeof id !== "string" || id === "") throw new TypeError(`${operation} needs ${name}, an ID.`);
    return encodeURIComponent(id);
  });
  const key = idempotencyKey ?? (found.hasIdempotencyKey && randomUUID());
  const headers = key === undefined ? {} : { "idempotency-key": key };
  const content = found.method === "POST" || found.method === "PATCH" ? { body: body ?? {} } : {};
  return { method: found.method, path, query, ...content, headers, signal };
}

type CursorPage<Item> = { data: Item[]; nextCursor: string | null };
/** Pages of events always have a cursor, so `hasMore` says which one is the last. */
type AnyPage<Item> = CursorPage<Item> & { hasMore?: boolean };

function toRequest(path: string, { signal, ...query }: Stoppable): Request {
  return { path, query, signal };
}

function listFrom<Item, Page extends AnyPage<Item> = CursorPage<Item>>(
  connection: Connection,
  request: Request,
): List<Item, Page> {
  const pages = () => readPages<Page>(connection, request);
  return { pages, [Symbol.asyncIterator]: () => readItems<Item>(pages()) };
}

async function* readPages<Page extends AnyPage<unknown>>(
  connection: Connection,
  { query, ...request }: Request,
): AsyncGenerator<Page, void, undefined> {
  let cursor = query?.["cursor"];
  for (;;) {
    const page = await sendRequest<Page>(connection, { ...request, query: { ...query, cursor } });
    yield page;
    if (page.nextCursor === null || page.hasMore === false) return;
    assertMoved(page.nextCursor, cursor);
    cursor = page.nextCursor;
  }
}

async function* readItems<Item>(pages: AsyncIterable<{ data: Item[] }>): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.data;
}

/** A proxy that drops the cursor would make us loop forever. */
function assertMoved(next: string, current: unknown): void {
  if (next !== current) return;
  const message = "The server returned the same page again. Something in front of Bookflow drops the cursor parameter.";
  throw new ApiError({ code: "unexpected_response", message, status: 200, requestId: null, retryAfterSeconds: null });
}

function toConnection(options: ClientOptions): Connection {
  const { apiKey, baseUrl, retries = RETRIES_DEFAULT, timeoutMs = TIMEOUT_MS_DEFAULT } = options;
  // Messages end up in logs, so they never show the key.
  if (typeof apiKey !== "string" || !/^svc_live_[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError("apiKey must be a Bookflow API key (svc_live_…), without spaces or line breaks.");
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError("retries must be a whole number, 0 or more.");
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) throw new TypeError("timeoutMs must be greater than 0.");
  // Looked up on each call, so that a later replacement of the global fetch, such as a tracer, is used.
  const ask: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  return { apiKey, baseUrl: parseBaseUrl(baseUrl), retries, timeoutMs, fetch: ask };
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUsable = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isUsable)
    throw new TypeError("baseUrl must be the address of Bookflow, for example https://bookings.example.com.");
  return url.href.replace(/\/+$/, "");
}
