import { KEY_SCOPES, type KeyScope } from "#contract/scopes.ts";
import type { Checked } from "../http/check-fields.ts";

/** At least one, each once, in the order of the contract. */
export function checkScopes(typed: readonly string[]): Checked<KeyScope[]> {
  const known: readonly string[] = KEY_SCOPES;
  if (typed.length === 0 || typed.some((text) => !known.includes(text)))
    return { fault: `Choose one or more of ${KEY_SCOPES.join(", ")}.` };
  return { value: KEY_SCOPES.filter((scope) => typed.includes(scope)) };
}
