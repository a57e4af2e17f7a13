import type { Shape } from "../../lib/shape.ts";
import type { CalendlyParts } from "../connections/connection-settings.ts";
import { type Outbound, type OutboundReply, type OutboundRequest, sendWithRetry } from "../outbound.ts";
import { readReply } from "../read-reply.ts";
import { SLOTS_MAX } from "../reply-limits.ts";
import { found, type Read, UNREADABLE, unavailable } from "../scheduling-system.ts";

type Query = Readonly<Record<string, string>>;
type Page<T> = { collection: T[]; pagination?: { next_page_token?: string | null } | null };

export type CalendlyApi = {
  /** Returns the reply's `resource`. */
  read<T>(path: string, shape: Shape<{ resource: T }>, signal: AbortSignal): Promise<Read<T>>;
  /** Reads all pages. Unavailable when there are more than can be read, because an item could be on the missing ones. */
  list<T>(request: { path: string; query?: Query }, shape: Shape<Page<T>>, signal: AbortSignal): Promise<Read<T[]>>;
  post(path: string, json: unknown, signal: AbortSignal): Promise<OutboundReply>;
  delete(path: string, signal: AbortSignal): Promise<OutboundReply>;
};

const PAGES_MAX = 10;
const ITEMS_PER_PAGE = 100;
/** Available times come on one page. */
const ITEMS_MAX = SLOTS_MAX;

export function createCalendlyApi(deps: { outbound: Outbound }, { settings, credentials }: CalendlyParts): CalendlyApi {
  const headers = { Authorization: `Bearer ${credentials.token}` };
  const send = (method: OutboundRequest["method"], path: string, body: OutboundRequest["body"], signal: AbortSignal) =>
    sendWithRetry(deps.outbound, { method, url: `${settings.apiUrl}${path}`, headers, body }, signal);
  const get = (path: string, query: Query, signal: AbortSignal) => {
    const search = new URLSearchParams(query).toString();
    return send("GET", `${path}${search === "" ? "" : `?${search}`}`, null, signal);
  };
  return {
    read: async (path, shape, signal) => {
      const read = readReply(await get(path, {}, signal), shape);
      return read.kind === "found" ? found(read.value.resource) : read;
    },
    list: async <T>(request: { path: string; query?: Query }, shape: Shape<Page<T>>, signal: AbortSignal) => {
      const items: T[] = [];
      let token: string | null = null;
      for (let pages = 0; pages < PAGES_MAX; pages++) {
        const query: Query = { ...request.query, ...(token === null ? {} : { page_token: token }) };
        const page: Read<Page<T>> = readReply(await get(request.path, query, signal), shape);
        if (page.kind !== "found") return page;
        for (const item of page.value.collection) items.push(item);
        if (items.length > ITEMS_MAX) return unavailable(UNREADABLE);
        token = page.value.pagination?.next_page_token ?? null;
        if (token === null) return found(items);
      }
      return unavailable(UNREADABLE);
    },
    post: (path, json, signal) => send("POST", path, { json }, signal),
    delete: (path, signal) => send("DELETE", path, null, signal),
  };
}

export const PAGE_SIZE = { count: String(ITEMS_PER_PAGE) };

export function toUuid(uri: string): string {
  return uri.slice(uri.lastIndexOf("/") + 1);
}
