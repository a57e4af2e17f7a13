import type { Shape } from "../../lib/shape.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { AccountLimits } from "../account-limits.ts";
import type { MicrosoftBookingsParts } from "../connections/connection-settings.ts";
import { createKeptRead, type KeptRead } from "../kept-read.ts";
import { type Outbound, type OutboundReply, type OutboundRequest, sendWithRetry, toAbortCode } from "../outbound.ts";
import { isFailure, readReply, toUpstream } from "../read-reply.ts";
import {
  type Failure,
  found,
  type Read,
  refused,
  UNREADABLE,
  unavailable,
  type WrongCredential,
} from "../scheduling-system.ts";
import { shapes } from "./shapes.ts";

// Requests to one booking business. Paths are relative to it: "" is the business itself, "/services" its services.
//
// A booking business is a mailbox, and Graph allows an application four requests to a mailbox at once (account-limits.ts).
// Several processes can still exceed it; throttled requests are sent again.

export type Graph = {
  read<T>(path: string, shape: Shape<T>, signal: AbortSignal): Promise<Read<T>>;
  /** Reads all pages. Unavailable when there are more than can be read, because an item could be on the missing ones. */
  list<T>(path: string, shape: Shape<Page<T>>, signal: AbortSignal): Promise<Read<T[]>>;
  /** A `Failure` means that nothing was sent. */
  post(path: string, json: unknown, signal: AbortSignal): Promise<OutboundReply | Failure>;
  remove(path: string, signal: AbortSignal): Promise<OutboundReply | Failure>;
};

type Page<T> = { value: T[]; "@odata.nextLink"?: string | null };
type GraphRequest = { readonly method: OutboundRequest["method"]; readonly url: string; readonly json?: unknown };

const PAGES_MAX = 20;
/** A month of appointments of a hundred people. */
const ITEMS_MAX = 20_000;

type GraphDeps = { outbound: Outbound; clock: Clock; accountLimits: AccountLimits };

export function createGraph(deps: GraphDeps, parts: MicrosoftBookingsParts): Graph {
  const token = createAccessToken(deps, parts);
  const limit = deps.accountLimits.ofMailbox(parts);
  const { graphUrl, businessId } = parts.settings;
  const businessUrl = `${graphUrl}/solutions/bookingBusinesses/${encodeURIComponent(businessId).replaceAll("%40", "@")}`;

  const sendOnce = async (
    request: GraphRequest,
    signal: AbortSignal,
  ): Promise<{ reply: OutboundReply; forget: () => void } | Failure> => {
    const access = await token.get(signal);
    if (access.kind !== "found") return access;
    const headers = {
      Authorization: `Bearer ${access.value.text}`,
      // Without this, Graph replaces newer staff roles with null.
      Prefer: "include-unknown-enum-members",
    };
    const body = request.json === undefined ? null : { json: request.json };
    const { method, url } = request;
    const reply = await limit(() => sendWithRetry(deps.outbound, { method, url, headers, body }, signal), signal);
    if (reply === null) return unavailable({ status: null, requestId: null, failure: toAbortCode(signal) });
    return { reply, forget: () => token.forget(access.value) };
  };

  /** A token can be revoked early. 401 means that the request was not processed, so it is sent once more. */
  const send = async (request: GraphRequest, signal: AbortSignal): Promise<OutboundReply | Failure> => {
    const first = await sendOnce(request, signal);
    if (!("reply" in first)) return first;
    if (first.reply.kind !== "reply" || first.reply.status !== 401) return first.reply;
    first.forget();
    const second = await sendOnce(request, signal);
    return "reply" in second ? second.reply : second;
  };

  const readUrl = async <T>(url: string, shape: Shape<T>, signal: AbortSignal): Promise<Read<T>> => {
    const reply = await send({ method: "GET", url }, signal);
    return isFailure(reply) ? reply : readReply(reply, shape);
  };

  return {
    read: (path, shape, signal) => readUrl(businessUrl + path, shape, signal),
    post: (path, json, signal) => send({ method: "POST", url: businessUrl + path, json }, signal),
    remove: (path, signal) => send({ method: "DELETE", url: businessUrl + path }, signal),
    list: async <T>(path: string, shape: Shape<Page<T>>, signal: AbortSignal) => {
      const items: T[] = [];
      let url: string | null = businessUrl + path;
      for (let pages = 0; url !== null && pages < PAGES_MAX; pages++) {
        // The token is sent to Graph only, whatever the link to the next page says.
        if (!url.startsWith(`${graphUrl}/`)) return unavailable(UNREADABLE);
        const page: Read<Page<T>> = await readUrl(url, shape, signal);
        if (page.kind !== "found") return page;
        for (const item of page.value.value) items.push(item);
        if (items.length > ITEMS_MAX) return unavailable(UNREADABLE);
        url = page.value["@odata.nextLink"] ?? null;
      }
      return url === null ? found(items) : unavailable(UNREADABLE);
    },
  };
}

type AccessToken = { readonly text: string; readonly lifeSeconds: number };

/** A token is replaced this long before it expires, so that none expires in transit. */
const EARLY_SECONDS = 300;
const TOKEN_TIMEOUT_MS = 6_000;

/** By the error names of OAuth. Microsoft's own numbers may change at any time, as its documentation says. */
const WRONG: Readonly<Record<string, WrongCredential>> = {
  invalid_request: "tenant",
  unauthorized_client: "application",
  invalid_client: "secret",
};

/** The application's own token (client credentials), valid for the whole tenant. Kept until shortly before it expires. */
function createAccessToken(
  deps: { outbound: Outbound; clock: Clock },
  { settings, credentials }: MicrosoftBookingsParts,
): KeptRead<AccessToken> {
  return createKeptRead(deps, {
    timeoutMs: TOKEN_TIMEOUT_MS,
    toKeptMs: ({ lifeSeconds }) => (lifeSeconds - EARLY_SECONDS) * 1_000,
    load: async (signal) => {
      const reply = await deps.outbound.send(
        {
          method: "POST",
          url: `${settings.loginUrl}/${encodeURIComponent(settings.tenantId)}/oauth2/v2.0/token`,
          headers: {},
          body: {
            form: {
              grant_type: "client_credentials",
              client_id: settings.clientId,
              client_secret: credentials.clientSecret,
              scope: `${new URL(settings.graphUrl).origin}/.default`,
            },
          },
        },
        signal,
      );
      // An unknown tenant, an unknown application and a wrong secret all get 400 or 401.
      if (reply.kind === "reply" && reply.status >= 400 && reply.status < 500 && reply.status !== 429) {
        const wrong = WRONG[String((reply.json as { error?: unknown } | null | undefined)?.error)];
        return { ...refused("credentials", toUpstream(reply)), ...(wrong && { wrong }) };
      }
      const read = readReply(reply, shapes.token);
      if (read.kind !== "found") return read;
      return { kind: "found", value: { text: read.value.access_token, lifeSeconds: read.value.expires_in } };
    },
  });
}
