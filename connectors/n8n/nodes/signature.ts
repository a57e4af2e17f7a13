import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/** Whether one of the secrets signed exactly these bytes in the last five minutes. */
export function isSigned({
  rawBody,
  header,
  secrets,
  now,
}: {
  rawBody: Buffer;
  header: unknown;
  secrets: readonly string[];
  now: Date;
}): boolean {
  const parts = String(header)
    .split(",")
    .map((part) => part.trim().split("="));
  const valuesOf = (name: string) => parts.flatMap(([each, value = ""]) => (each === name ? [value] : []));
  const [t = "", ...more] = valuesOf("t");
  if (!/^\d+$/.test(t) || more.length > 0) return false;
  if (Math.abs(now.getTime() / 1_000 - Number(t)) > TOLERANCE_SECONDS) return false;
  const signatures = valuesOf("v1").map((value) => Buffer.from(value));
  return secrets.some((secret) => {
    const expected = Buffer.from(createHmac("sha256", secret).update(`${t}.`).update(rawBody).digest("hex"));
    return signatures.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  });
}
