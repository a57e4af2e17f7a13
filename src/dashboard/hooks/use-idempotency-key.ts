import { useState } from "react";

const KEY_BYTES = 16;

/** One key per opened form, so that submitting it again creates nothing twice (server/http/idempotency-key.ts). */
export function useIdempotencyKey(): string {
  const [key] = useState(makeKey);
  return key;
}

/** `crypto.randomUUID` exists on https pages only. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
