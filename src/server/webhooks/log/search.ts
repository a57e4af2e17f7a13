import { parseDeliveryId, parseReference, parseWebhookEventId } from "#contract/ids.ts";
import { ApiError } from "../../http/api-error.ts";
import { badParameter } from "../../http/parameters.ts";
import type { DeliveryLogFilter } from "./queries.ts";

type Found = Pick<DeliveryLogFilter, "reference" | "eventId" | "deliveryId" | "email">;

/** What somebody typed into the search box of the delivery log. The form of the text says what it is. */
export function readSearch(typed: string, seesCustomers: boolean): Found {
  const text = typed.trim();
  const reference = parseReference(text) ?? parseReference(text.toUpperCase());
  if (reference) return { reference };
  const eventId = parseWebhookEventId(text.toLowerCase());
  if (eventId) return { eventId };
  const deliveryId = parseDeliveryId(text.toLowerCase());
  if (deliveryId) return { deliveryId };
  // PostgreSQL refuses NUL, and no address has another control character.
  if (!text.includes("@") || text.length > 320 || /\p{Cc}/u.test(text))
    throw badParameter("search", "must be a reference, an event ID, a delivery ID or a customer's email address");
  if (!seesCustomers) throw new ApiError("forbidden", "Viewers can't search by email address.");
  return { email: text };
}
