import { verifyWebhook, WebhookError, type WebhookEvent } from "../../../sdk/src/index.ts";

export type Arrival = {
  readonly number: number;
  readonly at: Date;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly content: Content;
  /** How often this delivery has arrived so far. */
  readonly attempt: number;
  readonly reply: Reply;
};

export type Content =
  | { readonly kind: "signed"; readonly signature: Signature; readonly body: unknown }
  | { readonly kind: "slack"; readonly message: Record<string, unknown> }
  | { readonly kind: "teams"; readonly card: Record<string, unknown> }
  | { readonly kind: "unreadable"; readonly text: string };

export type Signature =
  | { readonly kind: "verified"; readonly event: WebhookEvent }
  | { readonly kind: "wrong"; readonly reason: string };

export type Reply = { readonly status: number; readonly body: string };

/** Chats get their card unsigned; a request with a signature is the JSON event. */
export function readContent(given: {
  body: Buffer;
  signature: string | undefined;
  secrets: string[];
  now: Date;
}): Content {
  const value = parseJson(given.body);
  if (given.signature !== undefined) return { kind: "signed", signature: verify(given), body: value };
  if (isRecord(value) && Array.isArray(value["blocks"])) return { kind: "slack", message: value };
  const card = findAdaptiveCard(value);
  if (card) return { kind: "teams", card };
  return { kind: "unreadable", text: given.body.toString("utf8") };
}

/** The replies of the real services: Slack sends "ok", Teams 202. */
export function toReply(content: Content): Reply {
  switch (content.kind) {
    case "slack":
      return { status: 200, body: "ok" };
    case "teams":
      return { status: 202, body: "" };
    case "signed":
      return content.signature.kind === "verified" ? { status: 200, body: "stored" } : { status: 400, body: "refused" };
    case "unreadable":
      return { status: 400, body: "This receiver only accepts Bookflow's webhooks." };
    default:
      return content satisfies never;
  }
}

function verify(given: { body: Buffer; signature: string | undefined; secrets: string[]; now: Date }): Signature {
  if (given.secrets.length === 0) return { kind: "wrong", reason: "The receiver has no signing secret." };
  try {
    return { kind: "verified", event: verifyWebhook(given.body, given.signature, given.secrets, { now: given.now }) };
  } catch (error) {
    if (error instanceof WebhookError) return { kind: "wrong", reason: error.message };
    throw error;
  }
}

function findAdaptiveCard(value: unknown): Record<string, unknown> | null {
  const attachments = isRecord(value) && Array.isArray(value["attachments"]) ? value["attachments"] : [];
  const content = isRecord(attachments[0]) ? attachments[0]["content"] : null;
  return isRecord(content) && content["type"] === "AdaptiveCard" ? content : null;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of a list that are objects; an empty list for anything else. */
export function toRecords(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Only links that are safe on a page: a card comes from outside. */
export function toLink(value: unknown): string | null {
  const url = URL.parse(toText(value));
  return url && /^https?:$/.test(url.protocol) ? url.href : null;
}
