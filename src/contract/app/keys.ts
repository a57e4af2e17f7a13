import { type Static, Type } from "typebox";
import { KEY_SCOPES } from "../scopes.ts";
import { Timestamp } from "../timestamps.ts";
import { NullableText, NullableTimestamp, oneOf, pageOf } from "./forms.ts";

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

export const NewKey = Type.Object(
  {
    name: Type.String(),
    /** Default: KEY_SCOPES_DEFAULT. */
    scopes: Type.Optional(Type.Array(Type.String())),
    networks: Type.Optional(Type.Array(Type.String())),
    /** An ISO 8601 date in the future. Without it the key does not expire. */
    expiresAt: Type.Optional(NullableText),
  },
  { title: "NewApiKey" },
);
export type NewKey = Static<typeof NewKey>;

/** The only response that contains the key itself. */
export const CreatedKey = Type.Object({ ...AppKey.properties, key: Type.String() }, { title: "CreatedApiKey" });
export type CreatedKey = Static<typeof CreatedKey>;
