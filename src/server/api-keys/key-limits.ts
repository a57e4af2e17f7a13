import type { KeyScope } from "#contract/scopes.ts";
import type { KeyLimits } from "../accounts/accounts.ts";
import { FieldsError } from "../http/api-error.ts";
import { isWithinNetworks } from "./networks.ts";

type Wanted = { scopes: readonly KeyScope[]; networks: readonly string[]; expiresAt: Date | null };

/** A key that creates a key can't give it more than it has: no other scope, no wider network, no longer life. */
export function requireNoMore(own: KeyLimits | undefined, wanted: Wanted): void {
  if (own === undefined) return;
  const faults = {
    ...(wanted.scopes.every((scope) => includesScope(own.scopes, scope))
      ? {}
      : { scopes: `Your key can only give the scopes that it has: ${own.scopes.join(", ")}.` }),
    ...(isWithinNetworks(wanted.networks, own.networks)
      ? {}
      : { networks: `Your key can only be used from ${own.networks.join(", ")}, and so can the keys it creates.` }),
    ...(own.expiresAt === null || (wanted.expiresAt !== null && wanted.expiresAt <= own.expiresAt)
      ? {}
      : { expiresAt: `Your key expires at ${own.expiresAt.toISOString()}. The new key must expire by then.` }),
  };
  if (Object.keys(faults).length > 0) throw new FieldsError(faults);
}

/** A key that reads whole bookings can also read anonymous ones. */
function includesScope(scopes: readonly KeyScope[], scope: KeyScope): boolean {
  return scopes.includes(scope) || (scope === "bookings.anonymous" && scopes.includes("bookings"));
}
