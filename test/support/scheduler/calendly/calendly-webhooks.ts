import { createHmac } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { SentNotice } from "../calcom/calcom-webhooks.ts";
import type { ReceivedRequest, Reply } from "../local-server.ts";
import type { CalendlyBooking } from "./calendly-server.ts";
import { API, ORGANIZATION_URI, user } from "./calendly-world.ts";

// For tests: Calendly's webhook subscriptions as documented.

type Subscription = {
  uri: string;
  callback_url: string;
  state: "active" | "disabled";
  events: string[];
  scope: string;
  organization: string;
  user: string | null;
  retry_started_at: string | null;
};

export class CalendlyWebhooks {
  readonly list: Subscription[] = [];
  /** Free plans have none. */
  isPaid = true;
  readonly #secrets = new Map<string, string>();

  /** Null: the documentation doesn't allow this request. */
  serve({ method, path, query, body }: ReceivedRequest, isAdmin: boolean): Reply | null {
    const id = path.split("/")[2];
    if (!this.isPaid) return refuse(403, "Permission Denied", "Please upgrade your Calendly account to Standard");
    if (id === undefined) {
      const scope = method === "POST" ? JSON.parse(body) : query;
      if (scope.organization !== ORGANIZATION_URI) return null;
      if (scope.scope === "user" ? scope.user !== user.uri : scope.scope !== "organization") return null;
      if (scope.scope === "organization" && !isAdmin)
        return refuse(403, "Permission Denied", "You do not have permission");
      if (method === "POST") return this.#create(scope);
      const collection = this.list.filter((one) => one.scope === scope.scope);
      return { status: 200, json: { collection, pagination: { next_page_token: null } } };
    }
    const subscription = this.list.find(({ uri }) => uri.endsWith(`/${id}`));
    if (!subscription) return refuse(404, "Resource Not Found", "The server could not find the requested resource.");
    if (method === "GET") return { status: 200, json: { resource: subscription } };
    if (method !== "DELETE") return null;
    this.list.splice(this.list.indexOf(subscription), 1);
    return { status: 204 };
  }

  #create(wanted: Record<string, string> & { events: string[] }): Reply | null {
    const allowed = ["events", "organization", "scope", "signing_key", "url", "user"];
    const { url = "", events, scope = "", organization = "", signing_key: secret = "" } = wanted;
    const isRight =
      Object.keys(wanted).every((key) => allowed.includes(key)) &&
      isDeepStrictEqual(events, ["invitee.created", "invitee.canceled"]) &&
      url.startsWith("https://");
    if (!isRight) return null;
    if (this.list.some(({ callback_url }) => callback_url === url))
      return refuse(409, "Already Exists", "Hook with this url already exists");
    const uri = `${API}/webhook_subscriptions/HOOK${this.#secrets.size + 1}`;
    this.#secrets.set(uri, secret);
    const about = { uri, callback_url: url, events, scope, organization, user: wanted["user"] ?? null };
    const subscription: Subscription = { ...about, state: "active", retry_started_at: null };
    this.list.push(subscription);
    return { status: 201, json: { resource: subscription } };
  }

  sendCanceled(booking: CalendlyBooking): SentNotice[] {
    return this.#send("invitee.canceled", { ...toPayload(booking), rescheduled: booking.movedTo !== undefined });
  }

  /** Two notices: the old event is cancelled, and the new one created. */
  sendMoved(former: CalendlyBooking, booking: CalendlyBooking): SentNotice[] {
    const created = { ...toPayload(booking), rescheduled: false, old_invitee: `${toEventUri(former)}/invitees/AAA` };
    return [...this.sendCanceled(former), ...this.#send("invitee.created", created)];
  }

  sendCreated(booking: CalendlyBooking): SentNotice[] {
    return this.#send("invitee.created", { ...toPayload(booking), old_invitee: null });
  }

  #send(event: string, payload: object): SentNotice[] {
    return this.list
      .filter(({ state }) => state === "active")
      .map(({ uri, callback_url: url }) => {
        const body = JSON.stringify({
          event,
          created_at: "2026-11-18T15:05:57.000000Z",
          created_by: user.uri,
          payload,
        });
        const time = "1795014357";
        const digest = createHmac("sha256", this.#secrets.get(uri) ?? "")
          .update(`${time}.${body}`)
          .digest("hex");
        const headers = { "content-type": "application/json", "calendly-webhook-signature": `t=${time},v1=${digest}` };
        return { url, headers, body };
      });
  }
}

function toPayload(booking: CalendlyBooking) {
  const reason = { canceled_by: booking.invitee.name, reason: "I am ill", canceler_type: "invitee" };
  return {
    ...booking.invitee,
    uri: `${toEventUri(booking)}/invitees/AAA`,
    event: toEventUri(booking),
    cancellation: reason,
  };
}

function toEventUri({ uuid }: CalendlyBooking): string {
  return `${API}/scheduled_events/${uuid}`;
}

function refuse(status: number, title: string, message: string): Reply {
  return { status, json: { title, message } };
}
