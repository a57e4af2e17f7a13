import { isDeepStrictEqual } from "node:util";
import { FieldsError } from "./errors/api-error.ts";

/**
 * If two people change the same thing, the second one gets a message at each conflicting field and can then decide.
 * `now` is the thing as the API shows it, read in the transaction that changes it; `was` are the changed fields as the
 * sender last saw them. A field that already has the wanted value is no conflict, so a change can be sent again.
 */
export function requireUnchanged(
  now: Readonly<Record<string, unknown>>,
  { was = {}, ...wanted }: { was?: Readonly<Record<string, unknown>> | undefined; readonly [name: string]: unknown },
): void {
  const changed = Object.keys(was).filter(
    (name) => name in now && ![was[name], wanted[name]].some((value) => isDeepStrictEqual(now[name], value)),
  );
  if (changed.length === 0) return;
  throw new FieldsError(
    Object.fromEntries(changed.map((name) => [name, "Someone else changed this in the meantime."])),
    {
      code: "conflict",
      message: "Someone else changed this in the meantime. Review it before you save.",
    },
  );
}
