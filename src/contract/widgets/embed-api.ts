import { type Static, Type } from "typebox";
import { BROWSER_STEPS } from "../analytics/steps.ts";
import { FieldsErrorBody } from "../api-error.ts";
import { UUID_PATTERN } from "../ids.ts";
import { Timestamp } from "../timestamps.ts";
import { WidgetOptions } from "./widget.ts";

// The embed API: what the booking frame sends and gets.

/** Room for fifty answers of 2,000 characters, and for what an event sends. */
export const BOOK_BODY_MAX_BYTES = 128 * 1024;
export const NAME_LENGTH_MAX = 200;
export const EMAIL_LENGTH_MAX = 320;
export const PHONE_LENGTH_MAX = 50;
export const ANSWER_LENGTH_MAX = 2_000;
const ANSWERS_MAX = 50;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
const ID_LENGTH_MAX = 500;

const text = (maxLength: number) => Type.String({ maxLength });

export const BookRequest = Type.Object({
  visitId: Type.String({ pattern: UUID_PATTERN }),
  /** The page that embeds the widget. Anything other than a web address is ignored. */
  page: Type.Optional(Type.Unknown()),
  serviceId: text(ID_LENGTH_MAX),
  start: text(40),
  staffId: Type.Optional(text(ID_LENGTH_MAX)),
  timeZone: text(100),
  locale: Type.Optional(text(35)),
  /** Whether the frame told the visitor that no real appointment is made. If that has changed since, nothing is booked. */
  isTest: Type.Optional(Type.Boolean()),
  /**
   * The visitor no longer wants what an earlier request with this key asked for, and its response was lost. If it was booked, the
   * response is its booking. If not, nothing is booked with this key any more, even if the earlier request arrives later.
   */
  isAbandoned: Type.Optional(Type.Boolean()),
  customer: Type.Object({
    name: Type.String(),
    email: Type.String(),
    phone: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    notes: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  answers: Type.Optional(
    Type.Array(Type.Object({ questionId: text(ID_LENGTH_MAX), answer: Type.String() }), { maxItems: ANSWERS_MAX }),
  ),
  /** The loader's raw fields (RawAttribution). Bad ones are dropped, so that they never fail a booking. */
  attribution: Type.Optional(Type.Unknown()),
  /** A honeypot: people never see this field, so only bots fill it in. */
  website: Type.Optional(Type.String()),
});
export type BookRequest = Static<typeof BookRequest>;

const Person = Type.Object({ id: Type.String(), name: Type.String() });

/** `end` and the service's name are absent only if a request was repeated and neither we nor the scheduling system can tell. */
export const BookResponse = Type.Object({
  reference: Type.String(),
  status: Type.String(),
  start: Timestamp,
  end: Type.Optional(Timestamp),
  timeZone: Type.String(),
  service: Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }),
  staff: Type.Array(Person),
  manageUrl: Type.Optional(Type.String()),
  /** Present if `manageUrl` only changes the time. */
  cancelUrl: Type.Optional(Type.String()),
  joinUrl: Type.Union([Type.String(), Type.Null()]),
  /** The booking is confirmed, and its copy was deleted since. */
  isErased: Type.Optional(Type.Literal(true)),
});
export type BookResponse = Static<typeof BookResponse>;

export const FreeSlot = Type.Object({ start: Timestamp, end: Timestamp, staffIds: Type.Array(Type.String()) });
export type FreeSlot = Static<typeof FreeSlot>;

export const SlotsResponse = Type.Object({ slots: Type.Array(FreeSlot) });
export type SlotsResponse = Static<typeof SlotsResponse>;

/** What the frame gets instead of a booking. */
export const BookRefusal = Type.Object({
  ...FieldsErrorBody.properties,
  /** With `slot_taken`: times that are still available. */
  slots: Type.Optional(Type.Array(FreeSlot)),
  /** Nothing was booked, so the next attempt may use a new key. Without it, an error of the server leaves that open. */
  isSettled: Type.Optional(Type.Literal(true)),
});
export type BookRefusal = Static<typeof BookRefusal>;

/** `choices`: several options. `tick`: a box that is ticked or not. `phone`: with its country code. */
const QuestionType = Type.Union([
  Type.Literal("text"),
  Type.Literal("number"),
  Type.Literal("phone"),
  Type.Literal("tick"),
  Type.Literal("choice"),
  Type.Literal("choices"),
]);
export type QuestionType = Static<typeof QuestionType>;

export const ConfigResponse = Type.Object({
  widget: Type.Object({
    id: Type.String(),
    name: Type.String(),
    businessName: Type.String(),
    template: Type.String(),
    accentColor: Type.Union([Type.String(), Type.Null()]),
    status: Type.String(),
    /** The visitor is told that no appointment is made. */
    isTest: Type.Boolean(),
    bookingUrl: Type.String(),
    logoUrl: Type.Union([Type.String(), Type.Null()]),
    hourCycle: WidgetOptions.properties.hourCycle,
    locksTimeZone: WidgetOptions.properties.locksTimeZone,
    thankYouUrl: WidgetOptions.properties.thankYouUrl,
    privacyUrl: WidgetOptions.properties.privacyUrl,
  }),
  timeZone: Type.String({ description: "The organization's time zone." }),
  services: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      durationMinutes: Type.Integer(),
      description: Type.Optional(Type.String()),
      isOnline: Type.Boolean(),
      /** Whether a booking needs a phone number, with its country code. */
      phoneRequired: Type.Optional(Type.Boolean()),
      staffSelectable: Type.Boolean(),
      staff: Type.Array(Person),
      questions: Type.Array(
        Type.Object({
          id: Type.String(),
          label: Type.String(),
          type: QuestionType,
          options: Type.Optional(Type.Array(Type.String())),
          required: Type.Boolean(),
        }),
      ),
    }),
  ),
});
export type ConfigResponse = Static<typeof ConfigResponse>;

// What a browser sends to POST /embed-api/{widget}/events. Other fields are ignored.

export const COLLECT_EVENTS_MAX = 20;
/** The frame sends up to four addresses of 1,000 characters and campaign parameters of 4,200 in total. */
export const COLLECT_BODY_MAX_BYTES = 16 * 1024;

export const CollectRequest = Type.Object({
  visitId: Type.String({ pattern: UUID_PATTERN }),
  /** The page that embeds the widget. Anything other than a web address is ignored. */
  page: Type.Optional(Type.Unknown()),
  /** The loader's raw fields. An anonymous event keeps only the class derived from them. */
  attribution: Type.Optional(Type.Unknown()),
  events: Type.Array(Type.Object({ step: Type.Enum([...BROWSER_STEPS]) }), {
    minItems: 1,
    maxItems: COLLECT_EVENTS_MAX,
  }),
});
export type CollectRequest = Static<typeof CollectRequest>;
