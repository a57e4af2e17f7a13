import { createHmac, timingSafeEqual } from "node:crypto";
import { WebhookError } from "./errors.ts";
import { refuseBrowsers } from "./refuse-browsers.ts";
import type { WebhookEvent } from "./types.ts";

const TOLERANCE_SECONDS_DEFAULT = 300;

/**
 * Returns the event if Bookflow signed exactly these bytes recently; otherwise throws a WebhookError.
 * `rawBody` is the body as received, not parsed and serialised again. `header` is the value of Service-Signature. `secret` is
 * the endpoint's whole signing secret, or a list of secrets, any of which may match.
 */
export function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  header: string | readonly string[] | null | undefined,
  secret: string | readonly string[],
  options: { toleranceSeconds?: number; now?: Date } = {},
): WebhookEvent {
  refuseBrowsers();
  const { toleranceSeconds = TOLERANCE_SECONDS_DEFAULT, now = new Date() } = options;
  const body = toBytes(rawBody);
  const secrets = toSecrets(secret);
  const { t, signatures } = parseHeader(header);
  if (!isSigned({ body, secrets, t, signatures }))
    throw new WebhookError("wrong_signature", "The signature does not match this secret and body.");
  if (!(Math.abs(now.getTime() / 1_000 - Number(t)) <= toleranceSeconds))
    throw new WebhookError(
      "stale_timestamp",
      `The signature is more than ${toleranceSeconds} seconds old or in the future.`,
    );
  return parseEvent(body);
}

function toBytes(rawBody: string | Uint8Array | ArrayBuffer): Buffer {
  if (typeof rawBody === "string") return Buffer.from(rawBody);
  if (rawBody instanceof ArrayBuffer) return Buffer.from(rawBody);
  if (rawBody instanceof Uint8Array) return Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  throw new TypeError("rawBody must be the body as received, a string or bytes. Turn off JSON parsing for this route.");
}

function toSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === "string" ? [secret] : secret;
  const isUsable = (one: unknown) => typeof one === "string" && /^whsec_\S+$/.test(one);
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isUsable))
    throw new TypeError("secret must be the endpoint's whole signing secret, whsec_ included, or a list of secrets.");
  return secrets;
}

function parseHeader(header: string | readonly string[] | null | undefined): { t: string; signatures: string[] } {
  const text = typeof header === "string" ? header : (header ?? []).join(",");
  if (text.trim() === "") throw new WebhookError("missing_signature", "The Service-Signature header is missing.");
  const parts = text.split(",").map((part) => part.trim());
  const valuesOf = (name: string) => parts.flatMap((part) => (part.startsWith(name) ? [part.slice(name.length)] : []));
  const [t = "", ...others] = valuesOf("t=");
  const signatures = valuesOf("v1=");
  if (!/^[0-9]{1,12}$/.test(t) || others.length > 0 || signatures.length === 0)
    throw new WebhookError("malformed_signature", "Service-Signature must contain one t and at least one v1.");
  return { t, signatures };
}

/** During a rotation there is one signature per secret; one match is enough. */
function isSigned(given: { body: Buffer; secrets: readonly string[]; t: string; signatures: string[] }): boolean {
  const candidates = given.signatures.map((signature) => Buffer.from(signature));
  return given.secrets.some((secret) => {
    const expected = Buffer.from(createHmac("sha256", secret).update(`${given.t}.`).update(given.body).digest("hex"));
    return candidates.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  });
}

function parseEvent(body: Buffer): WebhookEvent {
  try {
    const event = JSON.parse(body.toString()) as Partial<WebhookEvent> | null;
    // Unknown event types pass too; receivers ignore them.
    if (typeof event?.id === "string" && typeof event.type === "string") return event as WebhookEvent;
  } catch {
    // Reported below.
  }
  throw new WebhookError("unreadable_body", "The signature is valid, but the body is not an event.");
}
