import { type Static, type TSchema, Type } from "typebox";
import { CHANNELS, FILTER_VALUES_MAX, NOT_SET } from "../analytics/dimensions.ts";
import { WIDGET_ID } from "../ids.ts";
import { Timestamp } from "../timestamps.ts";
import { NOTICE_KINDS } from "../webhooks/delivery.ts";
import {
  CHOSEN_EVENT_TYPES,
  ENDPOINT_DISABLED_REASONS,
  ENDPOINT_FILTER_VALUE_LENGTH_MAX,
  ENDPOINT_KINDS,
  ENDPOINT_PERIODS,
  ENDPOINT_RATE_MAX,
  ENDPOINT_STATUSES,
  ENDPOINT_URL_LENGTH_MAX,
  SECRET_OVERLAP_HOURS,
  type SecretOverlapHours,
} from "../webhooks/endpoint.ts";
import {
  bodyOf,
  idOf,
  line,
  NullableInteger,
  NullableText,
  NullableTimestamp,
  nullable,
  oneOf,
  optionalLine,
  PreviousValues,
  pageOf,
} from "./forms.ts";

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

export const AppEndpoint = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(ENDPOINT_KINDS),
    /** For chat endpoints, and for viewers, only the host and the end: the rest works like a password. */
    url: Type.String(),
    description: Type.String(),
    status: oneOf(ENDPOINT_STATUSES),
    disabledReason: nullable(oneOf(ENDPOINT_DISABLED_REASONS)),
    disabledAt: NullableTimestamp,
    /** The last characters of the signing secret; null for chats, whose cards are not signed. */
    secretHint: NullableText,
    secretCreatedAt: NullableTimestamp,
    /** Until then the previous secret stays valid. */
    previousSecretExpiresAt: NullableTimestamp,
    eventTypes: Type.Array(oneOf(CHOSEN_EVENT_TYPES)),
    /** Null: bookings of every widget. */
    widgetIds: nullable(Type.Array(Type.String())),
    services: nullable(Type.Array(Type.String())),
    channels: nullable(Type.Array(Type.String())),
    sources: nullable(Type.Array(Type.String())),
    campaigns: nullable(Type.Array(Type.String())),
    /** booking.erased is also sent for bookings whose retention ended. */
    reportsExpiry: Type.Boolean(),
    /** Names of the custom request headers; their values are never shown again. */
    headerNames: Type.Array(Type.String()),
    /** Null: as fast as the receiver answers. */
    requestsPerMinute: NullableInteger,
    health: EndpointHealth,
    /** The newest few, newest first. */
    notices: Type.Array(EndpointNotice),
    createdAt: Timestamp,
  },
  { title: "Endpoint" },
);
export type AppEndpoint = Static<typeof AppEndpoint>;

export const AppEndpointList = pageOf(AppEndpoint);
export type AppEndpointList = Static<typeof AppEndpointList>;

const someOf = <Value extends TSchema>(value: Value) =>
  Type.Optional(nullable(Type.Array(value, { minItems: 1, maxItems: FILTER_VALUES_MAX })));

/** What an endpoint gets, and how. Omitted fields keep their value; for a new endpoint, their default. */
const EndpointSettings = {
  eventTypes: Type.Optional(Type.Array(oneOf(CHOSEN_EVENT_TYPES), { minItems: 1 })),
  widgetIds: Type.Optional(nullable(Type.Array(idOf(WIDGET_ID), { minItems: 1 }))),
  /** Null: all of them. Filters limit events about bookings, except booking.erased. */
  services: someOf(line(ENDPOINT_FILTER_VALUE_LENGTH_MAX)),
  channels: someOf(oneOf([...CHANNELS, NOT_SET])),
  sources: someOf(line(ENDPOINT_FILTER_VALUE_LENGTH_MAX)),
  campaigns: someOf(line(ENDPOINT_FILTER_VALUE_LENGTH_MAX)),
  reportsExpiry: Type.Optional(Type.Boolean()),
  /** All custom headers. A null value keeps the current value; a name that is left out is deleted. */
  headers: Type.Optional(Type.Record(Type.String(), NullableText)),
  requestsPerMinute: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: ENDPOINT_RATE_MAX }))),
};

const Url = Type.String({ maxLength: ENDPOINT_URL_LENGTH_MAX, examples: ["https://example.com/hooks"] });
const Description = optionalLine(ENDPOINT_DESCRIPTION_LENGTH_MAX);

export const NewEndpoint = bodyOf(
  {
    url: Url,
    kind: oneOf(ENDPOINT_KINDS),
    description: Type.Optional(Description),
    ...EndpointSettings,
  },
  {
    title: "NewEndpoint",
    examples: [{ kind: "webhook", url: "https://example.com/hooks", eventTypes: ["booking.created"] }],
  },
);
export type NewEndpoint = Static<typeof NewEndpoint>;

/** The only response with the new endpoint's signing secret. */
export const AddedEndpoint = Type.Object({
  endpoint: AppEndpoint,
  /** Null for chats. */
  secret: NullableText,
  /** Another endpoint with the same URL, which gets the same events; null if there is none. */
  sameUrlAs: NullableText,
});
export type AddedEndpoint = Static<typeof AddedEndpoint>;

/** PATCH: omitted fields stay as they are. The kind cannot be changed. */
export const EndpointChange = bodyOf(
  {
    ...Type.Partial(Type.Object({ url: Url, description: Description, isEnabled: Type.Boolean() })).properties,
    ...EndpointSettings,
    was: PreviousValues,
  },
  {
    title: "EndpointChange",
    examples: [{ description: "Patient records", requestsPerMinute: 60 }],
  },
);
export type EndpointChange = Static<typeof EndpointChange>;

/** Tries filters against the newest events before they are saved. */
export const FilterTrialRequest = bodyOf({
  eventTypes: EndpointSettings.eventTypes,
  widgetIds: EndpointSettings.widgetIds,
  services: EndpointSettings.services,
  channels: EndpointSettings.channels,
  sources: EndpointSettings.sources,
  campaigns: EndpointSettings.campaigns,
});
export type FilterTrialRequest = Static<typeof FilterTrialRequest>;

/** An event without anything personal, and whether an endpoint with these filters would get it. */
const TriedEvent = Type.Object({
  id: Type.String(),
  type: oneOf(CHOSEN_EVENT_TYPES),
  createdAt: Timestamp,
  reference: Type.String(),
  widgetName: Type.String(),
  /** Null for booking.erased, like the three fields below if they are not known. */
  service: NullableText,
  channel: NullableText,
  source: NullableText,
  campaign: NullableText,
  matches: Type.Boolean(),
});

export const FilterTrial = Type.Object({
  /** Newest first. */
  events: Type.Array(TriedEvent),
  matching: Type.Integer(),
});
export type FilterTrial = Static<typeof FilterTrial>;

/** How long the old secret stays valid; 24 if omitted. */
export const RotateSecretRequest = bodyOf({
  overlapHours: Type.Optional(Type.Unsafe<SecretOverlapHours>(Type.Enum([...SECRET_OVERLAP_HOURS]))),
});
export type RotateSecretRequest = Static<typeof RotateSecretRequest>;

/** The only response with the new secret. The old one stays valid until the given time; null if it stopped at once. */
export const RotatedSecret = Type.Object({ secret: Type.String(), previousSecretExpiresAt: NullableTimestamp });
export type RotatedSecret = Static<typeof RotatedSecret>;

/** How many waiting deliveries are sent immediately. */
export const RetriedDeliveries = Type.Object({ count: Type.Integer() });
export type RetriedDeliveries = Static<typeof RetriedDeliveries>;

const EndpointInterval = Type.Object({
  from: Timestamp,
  delivered: Type.Integer(),
  failed: Type.Integer(),
  /** The median of attempts with a duration; null if there are none. */
  medianMs: NullableInteger,
  p95Ms: NullableInteger,
});

export const EndpointStatistics = Type.Object({
  period: oneOf(ENDPOINT_PERIODS),
  /** Oldest first, without gaps; the last one is not over yet. */
  intervals: Type.Array(EndpointInterval),
});
export type EndpointStatistics = Static<typeof EndpointStatistics>;

export const StatisticsQuery = Type.Object({
  period: Type.Optional(Type.Enum([...ENDPOINT_PERIODS], { default: "24h" })),
});
