import type { Sealer } from "../../lib/secrets/sealed.ts";
import type { LoadedDelivery } from "../queue/load.ts";
import type { SigningSecrets } from "../request/sign.ts";

// The URL of a chat, the signing secrets and the custom headers are stored sealed under SECRET_KEY.

export type SealedBoxes = {
  readonly secretBox: Sealer;
  readonly urlBox: Sealer;
  readonly headerBox: Sealer;
};

export type Opened = {
  url: string;
  /** Null: a chat, to which requests are not signed. */
  secrets: SigningSecrets | null;
  customHeaders: Record<string, string>;
};

/** Null if something was sealed under another SECRET_KEY. */
export function openSealed(boxes: SealedBoxes, delivery: LoadedDelivery, now: Date): Opened | null {
  if (delivery.kind !== "webhook") {
    const url = delivery.sealedUrl === null ? null : boxes.urlBox.open(delivery.endpointId, delivery.sealedUrl);
    return url === null ? null : { url, secrets: null, customHeaders: {} };
  }
  const secrets = openSecrets(boxes.secretBox, delivery, now);
  const customHeaders = openHeaders(boxes.headerBox, delivery);
  return secrets === null || customHeaders === null ? null : { url: delivery.url, secrets, customHeaders };
}

function openSecrets(box: Sealer, delivery: LoadedDelivery, now: Date): SigningSecrets | null {
  const { endpointId, secret, previousSecret, previousSecretExpiresAt } = delivery;
  const current = box.open(endpointId, secret);
  if (current === null) return null;
  const isOverlap = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  const previous = isOverlap && previousSecret ? box.open(endpointId, previousSecret) : null;
  return previous === null ? [current] : [current, previous];
}

function openHeaders(box: Sealer, { endpointId, sealedHeaders }: LoadedDelivery): Record<string, string> | null {
  if (sealedHeaders === null) return {};
  const text = box.open(endpointId, sealedHeaders);
  return text === null ? null : (JSON.parse(text) as Record<string, string>);
}
