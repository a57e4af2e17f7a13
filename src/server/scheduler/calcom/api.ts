import { DAY_MS } from "#contract/durations.ts";
import type { Shape } from "../../lib/shape.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { CalcomParts } from "../connections/connection-settings.ts";
import { createKeptRead, type KeptRead } from "../kept-read.ts";
import { type Outbound, type OutboundReply, type OutboundRequest, sendWithRetry } from "../outbound.ts";
import { readReply } from "../read-reply.ts";
import { type Failure, found, type Read, refused, UNREADABLE, unavailable } from "../scheduling-system.ts";
import {
  BOOKING_VERSIONS,
  type Booking,
  type BookingVersions,
  CURSOR_VERSION,
  FIXED_VERSIONS,
  shapes,
} from "./shapes.ts";

export type CalcomApi = {
  /** The newest version of the bookings API that the server knows. Found out once a day. */
  readonly versions: KeptRead<BookingVersions>;
  /** A page of bookings; `query` has what the page before it named as `next`. */
  listBookings(request: BookingsRequest, signal: AbortSignal): Promise<Read<BookingsPage>>;
  /** `path` is below `/v2`. */
  read<T>(request: ApiRequest, shape: Shape<T>, signal: AbortSignal): Promise<Read<T>>;
  /** A `Failure` means that nothing was sent. */
  post(request: { path: string; json: unknown }, signal: AbortSignal): Promise<OutboundReply | Failure>;
  changeWebhook(
    request: Pick<OutboundRequest, "method" | "body"> & { path: string },
    signal: AbortSignal,
  ): Promise<OutboundReply>;
};

type ApiRequest = {
  readonly resource: keyof typeof FIXED_VERSIONS | "booking";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
};

export type BookingsRequest = {
  readonly path: "/bookings" | `/teams/${number}/bookings`;
  readonly query: Readonly<Record<string, string>>;
};

export type BookingsPage = {
  readonly bookings: readonly Booking[];
  /** What asks for the next page; null on the last one. */
  readonly next: Readonly<Record<string, string>> | null;
};

const BOOKINGS_PER_PAGE = 100;
const VERSIONS_KEPT_MS = DAY_MS;
const VERSIONS_TIMEOUT_MS = 8_000;

export function createCalcomApi(
  deps: { outbound: Outbound; clock: Clock },
  { settings, credentials }: CalcomParts,
): CalcomApi {
  type Request = Pick<OutboundRequest, "method" | "body"> & Omit<ApiRequest, "resource">;
  const send = ({ method, path, query = {}, body }: Request, version: string, signal: AbortSignal) => {
    const search = new URLSearchParams(query).toString();
    const url = `${settings.apiUrl}/v2${path}${search === "" ? "" : `?${search}`}`;
    const headers = { Authorization: `Bearer ${credentials.apiKey}`, "cal-api-version": version };
    return sendWithRetry(deps.outbound, { method, url, headers, body }, signal);
  };
  const get = (request: Omit<ApiRequest, "resource">, version: string, signal: AbortSignal) =>
    send({ method: "GET", body: null, ...request }, version, signal);

  /** A server answers a version that it doesn't know in the shape of its oldest one. */
  const findVersions = async (signal: AbortSignal): Promise<Read<BookingVersions>> => {
    let upstream: Failure["upstream"] = null;
    for (const versions of BOOKING_VERSIONS) {
      const request = { path: "/bookings", query: { take: "1" } };
      const read = readReply(await get(request, versions.list, signal), shapes.bookings);
      if (read.kind === "found") return found(versions);
      const isOtherVersion =
        read.kind === "unavailable" ? read.upstream?.failure === "unreadable" : read.reason === "invalid";
      if (!isOtherVersion) return read;
      upstream = read.upstream;
    }
    return refused("version", upstream);
  };
  const versions = createKeptRead<BookingVersions>(deps, {
    timeoutMs: VERSIONS_TIMEOUT_MS,
    toKeptMs: () => VERSIONS_KEPT_MS,
    load: findVersions,
  });

  return {
    versions,
    listBookings: async (request, signal) => {
      const known = await versions.get(signal);
      if (known.kind !== "found") return known;
      const { list } = known.value;
      return await readPage(request, list, (query) => get({ path: request.path, query }, list, signal));
    },
    read: async (request, shape, signal) => {
      const { resource, ...rest } = request;
      if (resource !== "booking") return readReply(await get(rest, FIXED_VERSIONS[resource], signal), shape);
      const known = await versions.get(signal);
      if (known.kind !== "found") return known;
      return readReply(await get(rest, known.value.write, signal), shape);
    },
    post: async ({ path, json }, signal) => {
      const known = await versions.get(signal);
      if (known.kind !== "found") return known;
      return await send({ method: "POST", path, body: { json } }, known.value.write, signal);
    },
    changeWebhook: (request, signal) => send(request, FIXED_VERSIONS.webhooks, signal),
  };
}

async function readPage(
  { path, query }: BookingsRequest,
  version: string,
  get: (query: Readonly<Record<string, string>>) => Promise<OutboundReply>,
): Promise<Read<BookingsPage>> {
  // The bookings of a team have no cursor in any version.
  const hasCursor = version === CURSOR_VERSION && path === "/bookings";
  const sizeKey = hasCursor ? "limit" : "take";
  const size = Number(query[sizeKey] ?? BOOKINGS_PER_PAGE);
  const read = readReply(await get({ ...query, [sizeKey]: String(size) }), shapes.bookings);
  if (read.kind !== "found") return read;
  const { data: bookings, pagination } = read.value;
  // Without a cursor, what `pagination` says has been seen to be wrong, so items are counted.
  if (!hasCursor) {
    const skip = String(Number(query["skip"] ?? 0) + bookings.length);
    return found({ bookings, next: bookings.length < size ? null : { skip } });
  }
  const cursor = pagination?.nextCursor ?? null;
  if (cursor === null && (pagination?.hasMore ?? bookings.length >= size)) return unavailable(UNREADABLE);
  return found({ bookings, next: cursor === null ? null : { cursor } });
}
