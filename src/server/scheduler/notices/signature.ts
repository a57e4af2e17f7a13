import { createHmac, timingSafeEqual } from "node:crypto";

export type SignedNotice = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes as they arrived. */
  readonly body: Buffer;
  readonly secret: string;
};

/** Whether the given text is the HMAC-SHA256 of these parts, in hexadecimal digits. */
export function hasSignature(claim: {
  given: string | string[] | undefined;
  secret: string;
  signed: readonly (string | Buffer)[];
}): boolean {
  const { given, secret, signed } = claim;
  if (typeof given !== "string" || !/^[0-9a-f]{64}$/.test(given)) return false;
  const hmac = createHmac("sha256", secret);
  for (const part of signed) hmac.update(part);
  return timingSafeEqual(Buffer.from(given, "hex"), hmac.digest());
}
