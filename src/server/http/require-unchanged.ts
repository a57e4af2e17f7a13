import { isDeepStrictEqual } from "node:util";
import { FieldsError } from "./api-error.ts";

/**
 * If two people change the same thing, the second one gets a message at each conflicting field and can then decide.
 * `now` is the thing as the API shows it, read in the transaction that changes it; `was` are the changed fields as the
 * sender last saw them.
 */
export function requireUnchanged(
  now: Readonly<Record<string, unknown>>,
  was: Readonly<Record<string, unknown>> = {},
): void {
  const changed = Object.keys(was).filter((name) => name in now && !isDeepStrictEqual(now[name], was[name]));
  if (changed.length === 0) return;
  throw new FieldsError(
    Object.fromEntries(changed.map((name) => [name, "Someone else changed this in the meantime."])),
    {
      code: "conflict",
      message: "Someone else changed this in the meantime. Review it before you save.",
    },
  );
}
