import type { Clock } from "../../lib/clock.ts";
import type { MicrosoftBookingsParts } from "../connections/connection-settings.ts";
import type { Outbound, OutboundReply } from "../outbound.ts";
import { readReply, type Shape } from "../read-reply.ts";
import { type Failure, found, type Read, unavailable } from "../scheduling-system.ts";
import { createAccessToken } from "./access-token.ts";

// Requests to one booking business. Paths are relative to it: "" is the business itself, "/services" its services.

export type Graph = {
  read<T>(path: string, shape: Shape<T>, signal: AbortSignal): Promise<Read<T>>;
  /** All pages; unavailable where there are more than can be read, since what is missing could be what is looked for. */
  list<T>(path: string, shape: Shape<Page<T>>, signal: AbortSignal): Promise<Read<T[]>>;
  /** A `Failure` means that nothing was sent. */
  post(path: string, json: unknown, signal: AbortSignal): Promise<OutboundReply | Failure>;
};

type Page<T> = { value: T[]; "@odata.nextLink"?: string | null };

const PAGES_MAX = 20;

export function createGraph(deps: { outbound: Outbound; clock: Clock }, parts: MicrosoftBookingsParts): Graph {
  const token = createAccessToken(deps, parts);
  const { graphUrl, businessId } = parts.settings;
  const businessUrl = `${graphUrl}/solutions/bookingBusinesses/${encodeURIComponent(businessId).replaceAll("%40", "@")}`;

  const sendOnce = async (
    request: { method: "GET" | "POST"; url: string; json: unknown },
    signal: AbortSignal,
  ): Promise<{ reply: OutboundReply; forget: () => void } | Failure> => {
    const access = await token.get(signal);
    if (access.kind !== "found") return access;
    const headers = {
      Authorization: `Bearer ${access.value.text}`,
      // Else Graph writes newer roles of staff as null.
      Prefer: "include-unknown-enum-members",
    };
    const body = request.json === undefined ? null : { json: request.json };
    const reply = await deps.outbound.send({ method: request.method, url: request.url, headers, body }, signal);
    return { reply, forget: () => token.forget(access.value) };
  };

  /** A token may be withdrawn before its end: 401 says that the request was not looked at, so it is sent once more. */
  const send = async (
    request: { method: "GET" | "POST"; url: string; json?: unknown },
    signal: AbortSignal,
  ): Promise<OutboundReply | Failure> => {
    const first = await sendOnce({ json: undefined, ...request }, signal);
    if (!("reply" in first)) return first;
    if (first.reply.kind !== "reply" || first.reply.status !== 401) return first.reply;
    first.forget();
    const second = await sendOnce({ json: undefined, ...request }, signal);
    return "reply" in second ? second.reply : second;
  };

  const readUrl = async <T>(url: string, shape: Shape<T>, signal: AbortSignal): Promise<Read<T>> => {
    const reply = await send({ method: "GET", url }, signal);
    return isFailure(reply) ? reply : readReply(reply, shape);
  };

  return {
    read: (path, shape, signal) => readUrl(businessUrl + path, shape, signal),
    post: (path, json, signal) => send({ method: "POST", url: businessUrl + path, json }, signal),
    list: async <T>(path: string, shape: Shape<Page<T>>, signal: AbortSignal) => {
      const items: T[] = [];
      let url: string | null = businessUrl + path;
      for (let pages = 0; url !== null && pages < PAGES_MAX; pages++) {
        // The token goes to Graph only, whatever a page says comes next.
        if (!url.startsWith(`${graphUrl}/`)) return unavailable(UNREADABLE);
        const page: Read<Page<T>> = await readUrl(url, shape, signal);
        if (page.kind !== "found") return page;
        items.push(...page.value.value);
        url = page.value["@odata.nextLink"] ?? null;
      }
      return url === null ? found(items) : unavailable(UNREADABLE);
    },
  };
}

export const UNREADABLE = { status: null, requestId: null, failure: "unreadable" } as const;

export function isFailure(reply: OutboundReply | Failure): reply is Failure {
  return reply.kind === "refused" || reply.kind === "unavailable";
}
