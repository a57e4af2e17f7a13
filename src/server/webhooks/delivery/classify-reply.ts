import type { AttemptErrorCode } from "#contract/webhooks/delivery.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import type { SendResult } from "../request/guarded-send.ts";

// What a reply means for its delivery and its endpoint:
//
// | reply                        | webhook              | slack                        | teams                          |
// |------------------------------|----------------------|------------------------------|--------------------------------|
// | 2xx                          | delivered            | 200 with the body `ok` only, | delivered, unless the body     |
// |                              |                      | else failed for good         | reports a failure: its status  |
// | 2xx, and its body breaks off | delivered            | retry, unless `ok` came      | retry, unless it reports one   |
// | 3xx, 408, 425, 429, 5xx      | retry                | retry                        | retry                          |
// | 400, 413, 422                | retry                | failed, our own fault        | failed, our own fault          |
// | 401, 403, 404                | retry                | failed, endpoint flagged     | failed, endpoint flagged       |
// | 410                          | failed, endpoint off | failed, endpoint off         | failed, endpoint off           |
// | any other 4xx                | retry                | failed                       | failed                         |
// | anything else, no reply      | retry                | retry                        | retry                          |
//
// For any other status the body does not matter.

export type AttemptOutcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly errorCode: AttemptErrorCode; readonly retryAfter: string | null }
  | {
      readonly kind: "failed";
      readonly errorCode: AttemptErrorCode;
      /** `disable`: gone, turn the endpoint off now. `attention`: probably revoked; several in a row turn it off. */
      readonly endpointEffect: "none" | "attention" | "disable";
      /** The chat refused our card or its own workflow is broken: the operator is told as well as the owner. */
      readonly isOurFault: boolean;
    };

export function classifyReply(kind: EndpointKind, result: SendResult): AttemptOutcome {
  if (result.kind === "failure") return { kind: "retry", errorCode: result.code, retryAfter: null };
  const { status, body, retryAfter, brokenOff } = result;
  if (status < 200 || status > 299) return classifyStatus(kind, status, retryAfter);
  // For webhooks the status is enough; chats say in the body whether they posted the card.
  const incomplete: AttemptOutcome | null = brokenOff && { kind: "retry", errorCode: brokenOff, retryAfter };
  switch (kind) {
    case "webhook":
      return DELIVERED;
    case "slack":
      return status === 200 && body.trim() === "ok" ? DELIVERED : (incomplete ?? failed("reply_body"));
    case "teams":
      return classifyTeamsFault(body, retryAfter) ?? incomplete ?? DELIVERED;
    default:
      return kind satisfies never;
  }
}

const DELIVERED: AttemptOutcome = { kind: "delivered" };

/** For any status but 2xx. */
function classifyStatus(kind: EndpointKind, status: number, retryAfter: string | null): AttemptOutcome {
  const retry: AttemptOutcome = { kind: "retry", errorCode: "http_status", retryAfter };
  if (status >= 300 && status <= 399) return { ...retry, errorCode: "redirect" };
  if (status === 410) return failed("http_status", { endpointEffect: "disable" });
  const isFinalForChat = status >= 400 && status <= 499 && !RETRIED_BY_CHAT.has(status);
  if (kind === "webhook" || !isFinalForChat) return retry;
  if (MEANS_REVOKED.has(status)) return failed("http_status", { endpointEffect: "attention" });
  return failed("http_status", { isOurFault: BLAMES_THE_CARD.has(status) });
}

const RETRIED_BY_CHAT: ReadonlySet<number> = new Set([408, 425, 429]);
const MEANS_REVOKED: ReadonlySet<number> = new Set([401, 403, 404]);
const BLAMES_THE_CARD: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Workflows answer 202 without a body. The older connectors answer 200 even if they could not post, and say so in the body:
 * "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 …". That inner status is the
 * real one; without a readable one the message was not posted, so trying again cannot post it twice. Null if the body reports
 * no failure.
 */
function classifyTeamsFault(body: string, retryAfter: string | null): AttemptOutcome | null {
  if (!/webhook message delivery failed/i.test(body)) return null;
  const inner = Number(/\bHTTP error ([1-5][0-9]{2})\b/i.exec(body)?.[1] ?? 0);
  const outcome: AttemptOutcome =
    inner >= 400 ? classifyStatus("teams", inner, retryAfter) : { kind: "retry", errorCode: "reply_body", retryAfter };
  return outcome.kind === "delivered" ? outcome : { ...outcome, errorCode: "reply_body" };
}

function failed(
  errorCode: AttemptErrorCode,
  effect: { endpointEffect?: "attention" | "disable"; isOurFault?: boolean } = {},
): AttemptOutcome {
  return {
    kind: "failed",
    errorCode,
    endpointEffect: effect.endpointEffect ?? "none",
    isOurFault: effect.isOurFault ?? false,
  };
}
