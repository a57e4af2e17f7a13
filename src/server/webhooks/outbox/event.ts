import { type Attribution, CLICK_ID_FIELDS } from "#contract/analytics/attribution.ts";
import type { Answer } from "#contract/bookings/booking.ts";
import type { WebhookEventId, WidgetId } from "#contract/ids.ts";
import { type BookingEvent, WEBHOOK_API_VERSION, type WebhookAttribution } from "#contract/webhooks/webhook-event.ts";
import type { StoredStaff } from "../../db/tables/tables.ts";
import type { BookingEventContext } from "./queries.ts";

/** The stored booking that the envelope is made from. */
export type BookingFacts = {
  reference: string;
  externalId: string | null;
  status: string;
  startAt: Date;
  endAt: Date;
  timeZone: string;
  service: { id: string; name: string };
  staff: readonly StoredStaff[];
  customer: { name: string; email: string; phone: string | null; notes: string | null };
  answers: readonly Answer[];
  attribution: Attribution;
  manageUrl: string | null;
  joinUrl: string | null;
  /** Said on cards and in a header: the event has exactly the contract's fields. */
  isTest: boolean;
  widgetId: WidgetId;
};

/** What happened to the booking. */
export type BookingOccasion =
  | { readonly type: "booking.created" | "booking.cancelled" }
  | { readonly type: "booking.rescheduled"; readonly previousStartAt: Date };

/** Unlike the REST shape, staff are objects, UTM fields and click ids are nested, and the join link is included. */
export function toBookingEvent(
  facts: BookingFacts,
  occasion: BookingOccasion,
  { id, created, context }: { id: WebhookEventId; created: Date; context: BookingEventContext },
): BookingEvent {
  const data = {
    booking: {
      reference: facts.reference,
      id: facts.externalId ?? "",
      status: facts.status,
      start: facts.startAt.toISOString(),
      end: facts.endAt.toISOString(),
      timeZone: facts.timeZone,
      service: facts.service,
      staff: facts.staff.map((member) => ({ id: member.id ?? "", name: member.name })),
      customer: facts.customer,
      answers: facts.answers.map(({ questionId, question, answer }) => ({ questionId, question, answer })),
      ...(facts.manageUrl === null ? {} : { manageUrl: facts.manageUrl }),
      joinUrl: facts.joinUrl,
    },
    business: { id: context.organization_id, name: context.business_name || context.organization_name },
    widget: { id: context.widget_id, name: context.widget_name },
    attribution: toWebhookAttribution(facts.attribution),
  };
  const [createdAt, apiVersion] = [created.toISOString(), WEBHOOK_API_VERSION];
  const { type } = occasion;
  if (type !== "booking.rescheduled") return { id, type, created: createdAt, apiVersion, data };
  const previousStart = occasion.previousStartAt.toISOString();
  return { id, type, created: createdAt, apiVersion, data: { ...data, previousStart } };
}

function toWebhookAttribution(attribution: Attribution): WebhookAttribution {
  const { source, medium, campaign, channel, landingPage, referrer, pageUrl, gaClientId } = attribution;
  return withoutAbsent({
    source,
    medium,
    campaign,
    channel,
    landingPage,
    referrer,
    pageUrl,
    utm: withoutAbsent({
      source: attribution.utmSource,
      medium: attribution.utmMedium,
      campaign: attribution.utmCampaign,
      term: attribution.utmTerm,
    }),
    clickIds: withoutAbsent(Object.fromEntries(CLICK_ID_FIELDS.map((name) => [name, attribution[name]]))),
    gaClientId,
  });
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function withoutAbsent<T extends object>(value: T): Present<T> {
  const present = Object.entries(value).filter(([, member]) => member !== undefined);
  // Only absent fields were left out, and every field that may be absent is optional in the target.
  return Object.fromEntries(present) as Present<T>;
}
