import { type Static, Type } from "typebox";
import { NOTICE_KINDS } from "../delivery.ts";
import { ENDPOINT_DISABLED_REASONS, ENDPOINT_KINDS, ENDPOINT_STATUSES } from "../endpoint.ts";
import { Timestamp } from "../timestamps.ts";
import { NullableInteger, NullableTimestamp, nullable, oneOf, Was } from "./forms.ts";

/** `idle`: nothing has been sent yet. */
const ENDPOINT_CONDITIONS = ["idle", "healthy", "failing", "disabled"] as const;
export const ENDPOINT_DESCRIPTION_LENGTH_MAX = 200;

const EndpointHealth = Type.Object({
  condition: oneOf(ENDPOINT_CONDITIONS),
  lastAttemptAt: NullableTimestamp,
  lastSuccessAt: NullableTimestamp,
  lastStatus: NullableInteger,
  /** Since when every attempt has failed; null while healthy. */
  failingSince: NullableTimestamp,
  /** The receiver asked us to wait until then (Retry-After). */
  pausedUntil: NullableTimestamp,
  /** Attempts in the last 24 hours. */
  lastDay: Type.Object({
    delivered: Type.Integer(),
    failed: Type.Integer(),
    lastFailureAt: NullableTimestamp,
  }),
});

/** A notice to the endpoint's owner, as a sentence. */
const EndpointNotice = Type.Object({ kind: oneOf(NOTICE_KINDS), detail: Type.String(), at: Timestamp });

export const AppEndpoint = Type.Object({
  id: Type.String(),
  kind: oneOf(ENDPOINT_KINDS),
  /** For chat endpoints, and for viewers, only the host and the end: the rest works like a password. */
  url: Type.String(),
  description: Type.String(),
  status: oneOf(ENDPOINT_STATUSES),
  disabledReason: nullable(oneOf(ENDPOINT_DISABLED_REASONS)),
  disabledAt: NullableTimestamp,
  /** The last characters of the signing secret. */
  secretHint: Type.String(),
  secretCreatedAt: Timestamp,
  /** Until then the previous secret stays valid. */
  previousSecretExpiresAt: NullableTimestamp,
  health: EndpointHealth,
  /** The newest few, newest first. */
  notices: Type.Array(EndpointNotice),
  createdAt: Timestamp,
});
export type AppEndpoint = Static<typeof AppEndpoint>;

export const AppEndpointList = Type.Object({ data: Type.Array(AppEndpoint) });
export type AppEndpointList = Static<typeof AppEndpointList>;

export const NewEndpoint = Type.Object({
  url: Type.String(),
  kind: oneOf(ENDPOINT_KINDS),
  description: Type.Optional(Type.String()),
});
export type NewEndpoint = Static<typeof NewEndpoint>;

/** The only response with the new endpoint's signing secret. */
export const AddedEndpoint = Type.Object({ endpoint: AppEndpoint, secret: Type.String() });
export type AddedEndpoint = Static<typeof AddedEndpoint>;

/** PATCH: omitted fields stay as they are. The kind cannot be changed. */
export const EndpointChange = Type.Object({
  ...Type.Partial(Type.Object({ url: Type.String(), description: Type.String(), isEnabled: Type.Boolean() }))
    .properties,
  was: Was,
});
export type EndpointChange = Static<typeof EndpointChange>;

/** The only response with the new secret. The old one stays valid until the given time. */
export const RotatedSecret = Type.Object({ secret: Type.String(), previousSecretExpiresAt: Timestamp });
export type RotatedSecret = Static<typeof RotatedSecret>;

export const RedeliverFailedRequest = Type.Object({
  since: Type.String(),
  /** Includes deliveries that were cancelled because the endpoint was off. */
  missed: Type.Optional(Type.Boolean()),
});
export type RedeliverFailedRequest = Static<typeof RedeliverFailedRequest>;

export const RedeliverFailedAnswer = Type.Object({ count: Type.Integer() });
export type RedeliverFailedAnswer = Static<typeof RedeliverFailedAnswer>;
