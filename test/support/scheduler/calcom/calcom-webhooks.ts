import { createHmac } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ReceivedRequest, Reply } from "../local-server.ts";
import { toError } from "./calcom-error.ts";
import type { CalcomBooking } from "./calcom-server.ts";

// For tests: Cal.com's webhooks (webhooks.controller.ts and ssrfProtection.ts at 44ccc72f), and what a real one sent.

/** What a system sends us, to be passed on by a test. */
export type SentNotice = { url: string; headers: Record<string, string>; body: string };

type Webhook = { id: string; subscriberUrl: string; active: boolean; triggers: string[]; secret: string };

export class CalcomWebhooks {
  readonly list: Webhook[] = [];
  #made = 0;

  /** Null: no such request exists. */
  serve({ method, path, query, body }: ReceivedRequest): Reply | null {
    const id = path.split("/")[3];
    if (id === undefined) {
      if (method === "POST") return this.#create(JSON.parse(body));
      return method === "GET" && isDeepStrictEqual(query, { take: "250" }) ? toSuccess(200, this.list) : null;
    }
    const webhook = this.list.find((one) => one.id === id);
    if (!webhook) return toError(404, "NotFoundException", `Webhook (${id}) not found`);
    if (method === "DELETE") this.list.splice(this.list.indexOf(webhook), 1);
    else if (method !== "GET") return null;
    return toSuccess(200, webhook);
  }

  #create(wanted: Omit<Webhook, "id">): Reply | null {
    const keys = ["active", "secret", "subscriberUrl", "triggers"];
    if (!isDeepStrictEqual(Object.keys(wanted).sort(), keys)) return null;
    if (!wanted.subscriberUrl.startsWith("https://")) {
      const message = "Webhook URL is not allowed: Only HTTPS URLs are allowed";
      return toError(400, "BadRequestException", message);
    }
    if (this.list.some(({ subscriberUrl }) => subscriberUrl === wanted.subscriberUrl))
      return toError(409, "ConflictException", "Webhook with this subscriber url already exists for this user");
    const webhook = { id: `webhook-${++this.#made}`, ...wanted };
    this.list.push(webhook);
    return toSuccess(201, webhook);
  }

  /** Someone who is asked to choose another time gets the same notice with `requestReschedule`. */
  sendCancelled(booking: CalcomBooking, requestReschedule = false): SentNotice[] {
    // It has no metadata.
    const { metadata: _, ...payload } = toPayload(booking);
    const reason = "I am ill";
    return this.#send("BOOKING_CANCELLED", { ...payload, cancellationReason: reason, requestReschedule });
  }

  /** A move sends no notice that the former booking was cancelled. */
  sendMoved(booking: CalcomBooking): SentNotice[] {
    return this.#send("BOOKING_RESCHEDULED", { ...toPayload(booking), rescheduleUid: booking.rescheduledFromUid });
  }

  #send(triggerEvent: string, payload: object): SentNotice[] {
    return this.list
      .filter(({ active, triggers }) => active && triggers.includes(triggerEvent))
      .map(({ subscriberUrl: url, secret }) => {
        const body = JSON.stringify({ triggerEvent, createdAt: "2026-11-18T15:05:57.792Z", payload });
        const signature = secret ? createHmac("sha256", secret).update(body).digest("hex") : "no-secret-provided";
        const headers = { "content-type": "application/json", "x-cal-signature-256": signature };
        return { url, headers: { ...headers, "x-cal-webhook-version": "2021-10-20", "user-agent": "node" }, body };
      });
  }
}

function toPayload({ uid, start, end, attendees, metadata }: CalcomBooking) {
  return { uid, startTime: start, endTime: end, attendees, additionalNotes: "Please ring twice", metadata };
}

function toSuccess(status: number, data: unknown): Reply {
  return { status, json: { status: "success", data } };
}
