import type { OrganizationId } from "#contract/ids.ts";
import { type HttpReply, type Outbound, type OutboundReply, type OutboundRequest, toAbortCode } from "../outbound.ts";
import { findWidgetOwner } from "../sandbox/queries.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import { answerAsCalcom } from "./practice-calcom.ts";
import { parsePracticeUrl } from "./practice-url.ts";

/**
 * Answers an organization's requests to the practice Cal.com within this process, so that nothing has to be allowed to reach this
 * machine over the network. Everything else is sent as before.
 */
export function withPractice(deps: OpenDeps, owner: OrganizationId): OpenDeps {
  const { outbound, practiceUrl } = deps.scheduler;
  const send: Outbound["send"] = async (request, signal) => {
    const place = parsePracticeUrl(request.url);
    if (place === null) return await outbound.send(request, signal);
    if (practiceUrl === null) return fail("practice_off", false);
    if (signal.aborted) return fail(toAbortCode(signal), false);
    try {
      const reply = await answer(deps, { owner, ...place }, { ...request, signal });
      return signal.aborted ? fail(toAbortCode(signal), true) : reply;
    } catch (error) {
      deps.log.warn("sandbox.failed", { widgetId: place.widgetId, error });
      return fail("network_error", true);
    }
  };
  return { ...deps, scheduler: { ...deps.scheduler, outbound: { ...outbound, send } } };
}

type Place = NonNullable<ReturnType<typeof parsePracticeUrl>> & { readonly owner: OrganizationId };

/** Another organization's calendar is not found. */
async function answer(
  deps: OpenDeps,
  { owner, widgetId, path }: Place,
  { method, url, body, signal }: OutboundRequest & { readonly signal: AbortSignal },
): Promise<HttpReply> {
  const request = {
    route: `${method} ${path.replace(/^\/v2/, "")}`,
    query: new URL(url).searchParams,
    json: body !== null && "json" in body ? body.json : null,
    signal,
  };
  const isOwn = (await findWidgetOwner(deps.db, widgetId)) === owner;
  const reply = isOwn
    ? await answerAsCalcom(deps, { organizationId: owner, widgetId }, request)
    : { status: 404, json: {} };
  return { kind: "reply", ...reply, retryAfterMs: null, requestId: null, toldLimit: null };
}

function fail(code: (OutboundReply & { kind: "failure" })["code"], wasSent: boolean): OutboundReply {
  return { kind: "failure", code, wasSent };
}
