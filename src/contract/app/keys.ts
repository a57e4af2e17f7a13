import { type Static, Type } from "typebox";
import { KEY_NAME_LENGTH_MAX } from "../limits.ts";
import { KEY_NETWORKS_MAX, KEY_SCOPES, KEY_SCOPES_DEFAULT, NETWORK_PATTERN } from "../scopes.ts";
import { INSTANT_PATTERN, Timestamp } from "../timestamps.ts";
import { bodyOf, line, NullableText, NullableTimestamp, nullable, oneOf, pageOf } from "./forms.ts";

const KEY_CONDITIONS = ["active", "expired", "revoked"] as const;

export const AppKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    condition: oneOf(KEY_CONDITIONS),
    scopes: Type.Array(oneOf(KEY_SCOPES)),
    /** In CIDR notation; empty if the key may be used from anywhere. */
    networks: Type.Array(Type.String()),
    /** Four characters from each end of its random part: `svc_live_ab12…yz89`. */
    firstCharacters: Type.String(),
    lastCharacters: Type.String(),
    /** Email address of the member who created it; null if created on the command line. */
    createdBy: NullableText,
    createdAt: Timestamp,
    /** Accurate to the minute. */
    lastUsedAt: NullableTimestamp,
    expiresAt: NullableTimestamp,
    revokedAt: NullableTimestamp,
  },
  { title: "ApiKey" },
);
export type AppKey = Static<typeof AppKey>;

export const AppKeyList = pageOf(AppKey);
export type AppKeyList = Static<typeof AppKeyList>;

export const NewKey = bodyOf(
  {
    name: line(KEY_NAME_LENGTH_MAX),
    scopes: Type.Optional(Type.Array(oneOf(KEY_SCOPES), { minItems: 1, default: KEY_SCOPES_DEFAULT })),
    networks: Type.Optional(
      Type.Array(Type.String({ pattern: NETWORK_PATTERN, examples: ["203.0.113.0/24", "2001:db8::/32"] }), {
        maxItems: KEY_NETWORKS_MAX,
        description: "Networks in CIDR notation, or addresses. Empty: the key may be used from anywhere.",
      }),
    ),
    expiresAt: Type.Optional(
      nullable(
        Type.String({
          pattern: INSTANT_PATTERN,
          description: "In the future. Without it, the key doesn't expire.",
          examples: ["2030-12-31"],
        }),
      ),
    ),
  },
  {
    title: "NewApiKey",
    examples: [{ name: "Data team", scopes: ["analytics", "bookings.anonymous"] }],
  },
);
export type NewKey = Static<typeof NewKey>;

/** The only response that contains the key itself. */
export const CreatedKey = Type.Object({ ...AppKey.properties, key: Type.String() }, { title: "CreatedApiKey" });
export type CreatedKey = Static<typeof CreatedKey>;
