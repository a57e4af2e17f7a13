import type { HttpReply, Outbound, OutboundRequest } from "../outbound.ts";
import { findWidgetOwner } from "../sandbox/queries.ts";
import { answerAsCalcom, type PracticeDeps } from "./practice-calcom.ts";
import { parsePracticeUrl, toPracticeUrl } from "./practice-url.ts";

/**
 * Answers requests to the practice Cal.com within this process, so that nothing has to be allowed to reach this machine over the
 * network. Everything else is sent as before.
 */
export function withPractice(deps: PracticeDeps, outbound: Outbound): Outbound {
  if (toPracticeUrl(deps.baseUrl) === null) return outbound;
  return {
    send: async (request, signal) => {
      const place = parsePracticeUrl(request.url);
      if (place === null) return await outbound.send(request, signal);
      try {
        return await answer(deps, place, request);
      } catch (error) {
        deps.log.warn("sandbox.failed", { widgetId: place.widgetId, error });
        return { kind: "failure", code: "network_error", wasSent: true };
      }
    },
    close: () => outbound.close(),
  };
}

type Place = NonNullable<ReturnType<typeof parsePracticeUrl>>;

async function answer(deps: PracticeDeps, place: Place, { method, url, body }: OutboundRequest): Promise<HttpReply> {
  const { widgetId } = place;
  const organizationId = await findWidgetOwner(deps.db, widgetId);
  const request = {
    route: `${method} ${place.path.replace(/^\/v2/, "")}`,
    query: new URL(url).searchParams,
    json: body !== null && "json" in body ? body.json : null,
  };
  const reply = organizationId
    ? await answerAsCalcom(deps, { organizationId, widgetId }, request)
    : { status: 404, json: {} };
  return { kind: "reply", ...reply, retryAfterMs: null, requestId: null };
}
