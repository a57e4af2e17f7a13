import { type Static, Type } from "typebox";
import { CONNECTION_NAME_LENGTH_MAX, EMAIL_PATTERN } from "../limits.ts";
import { CONNECTION_KINDS } from "../scheduling.ts";
import { Timestamp } from "../timestamps.ts";
import { SEND_FAILURE_CODES } from "../webhooks/delivery.ts";
import { EMAIL_LENGTH_MAX } from "../widgets/embed-api.ts";
import {
  bodyOf,
  line,
  NullableInteger,
  NullableText,
  NullableTimestamp,
  nullable,
  oneOf,
  PreviousValues,
  pageOf,
} from "./forms.ts";

/** Fields of a connection's form, by kind. Saved settings are shown, credentials never. Optional fields have a default. */
export const CONNECTION_FIELDS = {
  "microsoft-bookings": {
    settings: ["tenantId", "clientId", "businessId", "graphUrl", "loginUrl"],
    optional: ["graphUrl", "loginUrl"],
    credentials: ["clientSecret"],
  },
  calcom: {
    settings: ["apiUrl", "webUrl"],
    optional: ["apiUrl", "webUrl"],
    credentials: ["apiKey"],
  },
  calendly: {
    settings: ["apiUrl", "plan"],
    optional: ["apiUrl", "plan"],
    credentials: ["token"],
  },
} as const;

const CONNECTION_ERROR_CODES = [
  ...SEND_FAILURE_CODES,
  "http_status",
  "too_large",
  "unreadable",
  "credentials",
  "not_found",
] as const;
export type ConnectionErrorCode = (typeof CONNECTION_ERROR_CODES)[number];

export const AppConnection = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(CONNECTION_KINDS),
    name: Type.String(),
    settings: Type.Record(Type.String(), Type.String()),
    /** False when the most recent reply was an error. */
    isHealthy: Type.Boolean(),
    lastOkAt: NullableTimestamp,
    /** Kept when the system works again. */
    lastError: nullable(oneOf(CONNECTION_ERROR_CODES)),
    lastErrorAt: NullableTimestamp,
    lastErrorStatus: NullableInteger,
    /** The system's own id for the failed request, for its support. */
    lastErrorRequestId: NullableText,
    /** Whether appointments that are cancelled or moved in the system change here too. */
    followsChanges: Type.Boolean(),
    /** Whether the system reports such changes at once. Otherwise it is asked for them every few minutes. */
    getsNotices: Type.Boolean(),
    /** Widgets that book through this connection. A connection with widgets cannot be deleted. */
    widgetCount: Type.Integer(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: "Connection" },
);
export type AppConnection = Static<typeof AppConnection>;

export const AppConnectionList = pageOf(AppConnection);
export type AppConnectionList = Static<typeof AppConnectionList>;

export const VerifiedConnection = Type.Object({
  businessName: Type.String(),
  timeZone: NullableText,
  bookingUrl: NullableText,
  /** Sentences for the person who connects the system. */
  warnings: Type.Array(Type.String()),
});
export type VerifiedConnection = Static<typeof VerifiedConnection>;

const Fields = Type.Record(Type.String(), Type.String());

/** The connection is tested before it is saved. */
export const NewConnection = bodyOf(
  {
    kind: oneOf(CONNECTION_KINDS),
    name: line(CONNECTION_NAME_LENGTH_MAX),
    settings: Fields,
    credentials: Fields,
  },
  {
    title: "NewConnection",
    examples: [{ kind: "calcom", name: "Practice", settings: {}, credentials: { apiKey: "cal_live_…" } }],
  },
);
export type NewConnection = Static<typeof NewConnection>;

/** PATCH: settings and credentials change together, so that an editor can't have a stored secret sent to their own address. */
export const ConnectionChange = bodyOf(
  {
    ...Type.Partial(
      Type.Object({
        name: line(CONNECTION_NAME_LENGTH_MAX),
        settings: Fields,
        credentials: Fields,
        followsChanges: Type.Boolean(),
      }),
    ).properties,
    was: PreviousValues,
  },
  {
    dependentRequired: { settings: ["credentials"], credentials: ["settings"] },
    title: "ConnectionChange",
    examples: [{ name: "Practice, first floor" }],
  },
);
export type ConnectionChange = Static<typeof ConnectionChange>;

export const SavedConnection = Type.Object(
  { connection: AppConnection, verified: nullable(VerifiedConnection) },
  { title: "SavedConnection" },
);
export type SavedConnection = Static<typeof SavedConnection>;

/** "Test". With `book`, a test appointment is made and cancelled. */
export const ConnectionCheckRequest = bodyOf({
  book: Type.Boolean(),
  /** The test customer's address, to which the system sends its emails; by default one that nobody reads. */
  email: Type.Optional(Type.String({ maxLength: EMAIL_LENGTH_MAX, pattern: EMAIL_PATTERN })),
});
export type ConnectionCheckRequest = Static<typeof ConnectionCheckRequest>;

const CONNECTION_CHECK_STEPS = ["account", "services", "free_times", "book", "find", "cancel"] as const;
export type ConnectionCheckStepName = (typeof CONNECTION_CHECK_STEPS)[number];

/** What a connection can do, tested with the real account. Stops at the first step that fails. */
export const ConnectionCheckResponse = Type.Object({
  kind: oneOf(CONNECTION_KINDS),
  settings: Type.Record(Type.String(), Type.String()),
  checkedAt: Timestamp,
  /** The reference of the test appointment. */
  reference: Type.String(),
  email: Type.String(),
  isWorking: Type.Boolean(),
  verdict: Type.String(),
  steps: Type.Array(
    Type.Object({
      name: oneOf(CONNECTION_CHECK_STEPS),
      isOk: Type.Boolean(),
      message: Type.String(),
      /** What is not offered and why, and limits to know. */
      notes: Type.Optional(Type.Array(Type.String())),
    }),
  ),
  /** Every request and its response, without secrets and personal data. */
  exchanges: Type.Array(
    Type.Object({
      method: Type.String(),
      url: Type.String(),
      body: Type.Unknown(),
      status: NullableInteger,
      failure: NullableText,
      retryAfterMs: NullableInteger,
      requestId: NullableText,
      json: Type.Unknown(),
      durationMs: Type.Integer(),
    }),
  ),
});
export type ConnectionCheckResponse = Static<typeof ConnectionCheckResponse>;
