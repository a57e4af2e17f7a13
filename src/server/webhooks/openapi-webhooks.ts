import { Type } from "typebox";
import { SIGNING_SECRET_OVERLAP_HOURS, SIGNING_SECRET_PREFIX } from "#contract/endpoint.ts";
import { PLAN_TERMS } from "#contract/plans.ts";
import { BookingCreatedEvent, WEBHOOK_HEADERS, WEBHOOK_USER_AGENT } from "#contract/webhook-event.ts";
import { PLANS_WITH_WEBHOOKS } from "./queue/caps.ts";

// The `webhooks` section of the OpenAPI document: what endpoints of kind `webhook` receive. docs/webhooks.md has the details.

const EVENT_TYPE = BookingCreatedEvent.properties.type.const;
const PLAN_NAMES = PLANS_WITH_WEBHOOKS.map((plan) => PLAN_TERMS[plan].name).join(" and ");
const SECRET_FORM = `\`${SIGNING_SECRET_PREFIX}…\``;

const DESCRIPTION = `Sent to every enabled endpoint of the organization when a booking is made through a widget that has Store
bookings on (plans ${PLAN_NAMES}).

Verify \`${WEBHOOK_HEADERS.signature}\` before anything else: the hexadecimal HMAC-SHA256 of \`<t>.<raw body>\`, keyed with the
endpoint's whole ${SECRET_FORM} secret, must equal one of the \`v1\` values, and \`t\` must lie within 300 seconds of now. Answer
2xx within 15 seconds and do the work afterwards. The same event may arrive more than once: use \`id\` to remove duplicates.

Any other answer than 2xx or 410 is retried, up to 8 times within about two hours. Redirects are not followed.`;

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: Type.String({ examples: [example] }),
});

export const OPENAPI_WEBHOOKS = {
  [EVENT_TYPE]: {
    post: {
      operationId: "bookingCreated",
      summary: "Booking created",
      description: DESCRIPTION,
      security: [],
      parameters: [
        header(
          "User-Agent",
          "The sender and the address of its documentation.",
          `${WEBHOOK_USER_AGENT} (+https://…/docs)`,
        ),
        header(WEBHOOK_HEADERS.eventType, "The type of the event, as in the body.", EVENT_TYPE),
        header(
          WEBHOOK_HEADERS.deliveryId,
          "Identifies the delivery of this event to this endpoint. The same in every attempt.",
          "0d9c8a4e-5b1f-4c3e-9a67-2f1be8d60c55",
        ),
        header(
          WEBHOOK_HEADERS.signature,
          "The signing time (unix seconds) and the signature. For " +
            `${SIGNING_SECRET_OVERLAP_HOURS} hours after a rotation there is one signature per secret.`,
          "t=1793525400,v1=72037e86def453cf6a64018f6cf1777244901dd1b7431177c7374ccb54040b54",
        ),
      ],
      requestBody: { required: true, content: { "application/json": { schema: BookingCreatedEvent } } },
      responses: {
        "2XX": { description: "Delivered." },
        "410": { description: "Permanently gone: the delivery fails and the endpoint is turned off." },
        default: { description: "Retried. `Retry-After` of up to an hour is honoured." },
      },
    },
  },
} as const;
