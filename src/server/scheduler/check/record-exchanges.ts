import type { Clock } from "../../lib/time/clock.ts";
import type { Outbound, OutboundReply, OutboundRequest } from "../outbound.ts";

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

// Keeps secrets and personal data out of recorded requests and responses.
//
// | texts in                                | are kept                                              |
// |-----------------------------------------|-------------------------------------------------------|
// | requests, errors, the test appointment  | all: they are about the test customer                 |
// | services, questions, the account        | if their field is in KEPT or KEPT_IN_OFFERS           |
// | other appointments, staff and hosts     | if their field is in KEPT                             |
//
// The connection's own secrets are masked everywhere, even inside kept texts. Numbers and yes/no values are kept. What remains
// is all that an adapter needs, so that a saved check can be replayed.

const MASKED = "***";
const MASKED_LINK = "https://masked.example/";

const SECRET_KEYS = /^(access_token|refresh_token|client_secret|authorization)$/i;
/** Links that carry a token. They stay links, because an adapter checks them. */
const LINK_KEYS = /^(joinWebUrl|anonymousJoinWebUrl|meetingUrl|join_url|cancel_url|reschedule_url)$/;

/** Ids, states and times. */
const KEPT: ReadonlySet<string> = new Set([
  ...["@odata.context", "@odata.nextLink", "@odata.type", "code", "createdAt", "createdDateTime", "created_at"],
  ...["dateTime", "end", "end_time", "event", "event_type", "id", "next_page", "next_page_token", "postBuffer"],
  ...["preBuffer", "serviceId", "staffId", "staffMemberIds", "start", "start_time", "status", "timeZone", "timezone"],
  ...["token_type", "uid", "uri", "user"],
]);

/** How a business describes itself and what it offers. */
const KEPT_IN_OFFERS: ReadonlySet<string> = new Set([
  ...["answerInputType", "answerOptions", "answer_choices", "availabilityType", "bookingField", "bookingUrl"],
  ...["booking_method", "businessTimeZone", "current_organization", "day", "defaultDuration", "displayName", "endDate"],
  ...["endTime", "kind", "label", "location", "maximumAdvance", "minimumLeadTime", "name", "options", "pooling_type"],
  ...["publicUrl", "questionId", "schedulingType", "scheduling_url", "slug", "startDate", "startTime"],
  ...["timeSlotInterval", "title", "type", "username"],
]);
/** Copied into appointments as a whole. */
const OFFER_PARTS = /^(defaultLocation|defaultReminders)$/;

const PEOPLE_PATHS = /\/(appointments|calendarView|bookings|customers|invitees|scheduled_events|staffMembers)(\/|$)/;
const PEOPLE_KEYS = /^(attendees|guests|hosts|owner|profile|users)$/;

type Subject = "test" | "offers" | "people";

export class Mask {
  readonly #reference: string;
  #secrets: string[] = [];

  /** `reference`: the test appointment's. */
  constructor({ secrets, reference }: { secrets: readonly string[]; reference: string }) {
    this.#reference = reference;
    for (const secret of secrets) this.add(secret);
  }

  /** Also masks the secret as part of an address or of a header. The longest form is replaced first. */
  add(secret: string): void {
    const bytes = Buffer.from(secret);
    const forms = [secret, encodeURIComponent(secret), bytes.toString("base64"), bytes.toString("base64url")];
    this.#secrets = [...new Set([...this.#secrets, ...forms])].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    return this.#secrets.reduce((masked, secret) => masked.replaceAll(secret, MASKED), text);
  }

  request(json: unknown): unknown {
    return this.#mask(json, "", "test");
  }

  response(json: unknown, { url, status }: { url: string; status: number }): unknown {
    const subject = PEOPLE_PATHS.test(new URL(url).pathname) ? "people" : "offers";
    return this.#mask(json, "", status >= 400 ? "test" : subject);
  }

  #mask(value: unknown, key: string, subject: Subject): unknown {
    if (typeof value === "string") return this.#maskText(value, key, subject);
    if (Array.isArray(value)) return value.map((item) => this.#mask(item, key, subject));
    if (value === null || typeof value !== "object") return value;
    const inside = this.#findSubject(value, key, subject);
    // Objects inside the test appointment are looked at again, because not all of them are about the test customer.
    const below = inside === "test" && subject === "people" ? "people" : inside;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        this.text(name),
        this.#mask(member, name, typeof member === "object" && member !== null ? below : inside),
      ]),
    );
  }

  #findSubject(value: object, key: string, subject: Subject): Subject {
    if (subject === "offers" && OFFER_PARTS.test(key)) return "test";
    if (subject === "offers") return PEOPLE_KEYS.test(key) ? "people" : "offers";
    return subject === "people" && JSON.stringify(value).includes(this.#reference) ? "test" : subject;
  }

  #maskText(text: string, key: string, subject: Subject): string {
    if (SECRET_KEYS.test(key)) return MASKED;
    if (LINK_KEYS.test(key)) return MASKED_LINK;
    const isKept = subject === "test" || KEPT.has(key) || (subject === "offers" && KEPT_IN_OFFERS.has(key));
    return isKept || text === "" ? this.text(text) : MASKED;
  }
}
