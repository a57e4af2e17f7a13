import type { Clock } from "../../lib/clock.ts";
import type { Outbound, OutboundReply, OutboundRequest } from "../outbound.ts";
import { type Masking, maskJson, maskText } from "./mask.ts";

/** One request and its response, without secrets and personal data. A saved list can be replayed: testing/replay-server.ts. */
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
  masking: Masking,
): { outbound: Outbound; exchanges: Exchange[] } {
  const exchanges: Exchange[] = [];
  const send = async (request: OutboundRequest, signal: AbortSignal): Promise<OutboundReply> => {
    const startMs = deps.clock.now().getTime();
    const reply = await deps.outbound.send(request, signal);
    const durationMs = deps.clock.now().getTime() - startMs;
    exchanges.push({ ...toRecordedRequest(request, masking), ...toRecordedReply(reply, masking), durationMs });
    return reply;
  };
  return { outbound: { send, close: () => deps.outbound.close() }, exchanges };
}

function toRecordedRequest({ method, url, body }: OutboundRequest, masking: Masking) {
  const sent = body === null ? null : "json" in body ? body.json : body.form;
  return { method, url: maskText(url, masking), body: maskJson(sent, masking) };
}

function toRecordedReply(reply: OutboundReply, masking: Masking) {
  if (reply.kind === "failure")
    return { status: null, failure: reply.code, retryAfterMs: null, requestId: null, json: null };
  const { status, retryAfterMs, requestId, json } = reply;
  return { status, failure: null, retryAfterMs, requestId, json: json === undefined ? null : maskJson(json, masking) };
}
