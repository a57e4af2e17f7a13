import { useState } from "react";

const KEY_BYTES = 16;

/** Of a form, as long as it is open: what it makes is made once, however often it is sent (server/http/idempotency-key.ts). */
export function useIdempotencyKey(): string {
  const [key] = useState(makeKey);
  return key;
}

/** `crypto.randomUUID` is there on https pages only. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
