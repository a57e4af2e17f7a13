import type { Clock } from "../../lib/time/clock.ts";
import type { Outbound, OutboundReply, OutboundRequest } from "../outbound.ts";
import type { Mask } from "./mask.ts";

/** One request and its response, without secrets and personal data. test/support/scheduler/replay-check.ts replays a saved list. */
export type Exchange = {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  /** Null when there was no reply. */
  readonly status: number | null;
  /** Why there was no reply. */
  readonly failure: string | null;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  readonly json: unknown;
  readonly durationMs: number;
};

/** The same client, which also records what it sends and receives. */
export function recordExchanges(
  deps: { outbound: Outbound; clock: Clock },
  mask: Mask,
): { outbound: Outbound; exchanges: Exchange[] } {
  const exchanges: Exchange[] = [];
  const send = async (request: OutboundRequest, signal: AbortSignal): Promise<OutboundReply> => {
    const startMs = deps.clock.now().getTime();
    const reply = await deps.outbound.send(request, signal);
    const durationMs = deps.clock.now().getTime() - startMs;
    const token = findAccessToken(reply);
    if (token !== null) mask.add(token);
    exchanges.push({ ...toRecordedRequest(request, mask), ...toRecordedReply(reply, request.url, mask), durationMs });
    return reply;
  };
  return { outbound: { send, close: () => deps.outbound.close() }, exchanges };
}

/** Microsoft exchanges the application's secret for a token, which is as secret. */
function findAccessToken(reply: OutboundReply): string | null {
  const json = reply.kind === "reply" ? reply.json : null;
  if (typeof json !== "object" || json === null || !("access_token" in json)) return null;
  return typeof json.access_token === "string" && json.access_token !== "" ? json.access_token : null;
}

function toRecordedRequest({ method, url, body }: OutboundRequest, mask: Mask) {
  const sent = body === null ? null : "json" in body ? body.json : body.form;
  return { method, url: mask.text(url), body: mask.request(sent) };
}

function toRecordedReply(reply: OutboundReply, url: string, mask: Mask) {
  if (reply.kind === "failure")
    return { status: null, failure: reply.code, retryAfterMs: null, requestId: null, json: null };
  const { status, retryAfterMs, json } = reply;
  const requestId = reply.requestId === null ? null : mask.text(reply.requestId);
  const masked = json === undefined ? null : mask.response(json, { url, status });
  return { status, failure: null, retryAfterMs, requestId, json: masked };
}
