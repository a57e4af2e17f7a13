import { type Static, type TSchema, Type } from "typebox";
import { shapeOf } from "../../lib/shape.ts";
import { LOCATIONS_MAX, OPTIONS_MAX, QUESTIONS_MAX, SERVICES_MAX, SLOTS_MAX, STAFF_MAX } from "../reply-limits.ts";

// The parts of Calendly's replies (API v2) that we read.

const maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]));

const CustomQuestion = Type.Object({
  name: Type.String(),
  /** `string`, `text`, `phone_number`, `single_select` or `multi_select`. */
  type: Type.String(),
  position: Type.Integer(),
  enabled: maybe(Type.Boolean()),
  required: maybe(Type.Boolean()),
  answer_choices: maybe(Type.Array(Type.String(), { maxItems: OPTIONS_MAX })),
});
export type CustomQuestion = Static<typeof CustomQuestion>;

const EventLocation = Type.Object({ kind: Type.String(), location: maybe(Type.String()) });
export type EventLocation = Static<typeof EventLocation>;

/** A year. A much longer one would end on a date that doesn't exist. */
const DURATION_MINUTES_MAX = 365 * 24 * 60;

const EventType = Type.Object({
  uri: Type.String(),
  name: Type.String(),
  active: maybe(Type.Boolean()),
  secret: maybe(Type.Boolean()),
  /** `solo` or `group`. */
  kind: maybe(Type.String()),
  /** `round_robin`, `collective`, `multi_pool`, or null for one host. */
  pooling_type: maybe(Type.String()),
  /** `instant` or `poll`. */
  booking_method: maybe(Type.String()),
  is_paid: maybe(Type.Boolean()),
  duration: Type.Number({ exclusiveMinimum: 0, maximum: DURATION_MINUTES_MAX }),
  description_plain: maybe(Type.String()),
  custom_questions: maybe(Type.Array(CustomQuestion, { maxItems: QUESTIONS_MAX })),
  locations: maybe(Type.Array(EventLocation, { maxItems: LOCATIONS_MAX })),
});
export type EventType = Static<typeof EventType>;

const ScheduledEvent = Type.Object({
  uri: Type.String(),
  status: Type.String(),
  event_type: maybe(Type.String()),
  start_time: Type.String(),
  end_time: Type.String(),
  location: maybe(Type.Object({ join_url: maybe(Type.String()) })),
  event_memberships: maybe(
    Type.Array(Type.Object({ user: Type.String(), user_name: maybe(Type.String()) }), { maxItems: STAFF_MAX }),
  ),
});
export type ScheduledEvent = Static<typeof ScheduledEvent>;

const Invitee = Type.Object({
  uri: Type.String(),
  /** The URI of the scheduled event. */
  event: Type.String(),
  status: Type.String(),
  cancel_url: maybe(Type.String()),
  reschedule_url: maybe(Type.String()),
  tracking: maybe(Type.Object({ utm_content: maybe(Type.String()) })),
  rescheduled: maybe(Type.Boolean()),
  /** Its URI contains the new event's. */
  new_invitee: maybe(Type.String()),
});
export type Invitee = Static<typeof Invitee>;

const Subscription = Type.Object({
  uri: Type.String(),
  callback_url: Type.String(),
  /** `active` or `disabled`. */
  state: Type.String(),
  /** `user`, `organization` or `group`. */
  scope: Type.String(),
  /** Since when Calendly tries again to send what we didn't take. */
  retry_started_at: maybe(Type.String()),
});

const resource = <T extends TSchema>(type: T) => shapeOf(Type.Object({ resource: type }));
const collection = <T extends TSchema>(type: T, maxItems = SLOTS_MAX) =>
  shapeOf(
    Type.Object({
      collection: Type.Array(type, { maxItems }),
      pagination: maybe(Type.Object({ next_page_token: maybe(Type.String()) })),
    }),
  );

export const shapes = {
  user: resource(
    Type.Object({
      uri: Type.String(),
      name: maybe(Type.String()),
      timezone: maybe(Type.String()),
      scheduling_url: maybe(Type.String()),
      current_organization: Type.String(),
    }),
  ),
  eventTypes: collection(EventType, SERVICES_MAX),
  eventType: resource(EventType),
  availableTimes: collection(Type.Object({ start_time: Type.String(), status: maybe(Type.String()) })),
  scheduledEvents: collection(ScheduledEvent),
  scheduledEvent: resource(ScheduledEvent),
  invitees: collection(Invitee),
  invitee: resource(Invitee),
  subscription: resource(Subscription),
  subscriptions: collection(Subscription),
  notice: shapeOf(
    Type.Object({
      event: Type.String(),
      payload: Type.Object({ event: maybe(Type.String()), old_invitee: maybe(Type.String()) }),
    }),
  ),
  /** Which of the two places has the code depends on the endpoint. */
  error: shapeOf(
    Type.Object({
      code: maybe(Type.String()),
      details: maybe(Type.Array(Type.Object({ code: maybe(Type.String()) }))),
    }),
  ),
};
