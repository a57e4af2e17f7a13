import { hasSignature, type SignedNotice } from "../notices/signature.ts";
import { isSuccess, readReply, toFailure } from "../read-reply.ts";
import { found, type Read, type SubscriptionState, type Subscriptions } from "../scheduling-system.ts";
import type { CalcomApi } from "./api.ts";
import { shapes } from "./shapes.ts";

// Cal.com's webhooks, which it sends once. A webhook belongs to the key's user, so moves and cancellations of a colleague's bookings
// are found by polling.

const TRIGGERS = ["BOOKING_CANCELLED", "BOOKING_RESCHEDULED"];
/** More than the API returns without being asked. */
const WEBHOOKS_MAX = "250";

export function createSubscriptions(api: CalcomApi): Subscriptions<[signal: AbortSignal]> {
  const remove = async (id: string, signal: AbortSignal): Promise<Read<"removed">> => {
    const reply = await api.changeWebhook({ method: "DELETE", path: toPath(id), body: null }, signal);
    const isGone = reply.kind === "reply" && (isSuccess(reply) || reply.status === 404);
    return isGone ? found("removed") : toFailure(reply);
  };
  const removeAt = async (url: string, signal: AbortSignal): Promise<Read<"removed">> => {
    const query = { take: WEBHOOKS_MAX };
    const listed = await api.read({ resource: "webhooks", path: "/webhooks", query }, shapes.webhooks, signal);
    if (listed.kind !== "found") return listed;
    for (const { id } of listed.value.data.filter(({ subscriberUrl }) => subscriberUrl === url)) {
      const removed = await remove(id, signal);
      if (removed.kind !== "found") return removed;
    }
    return found("removed");
  };
  return {
    create: async ({ url, secret }, signal) => {
      const body = { json: { subscriberUrl: url, triggers: TRIGGERS, active: true, secret } };
      const post = () => api.changeWebhook({ method: "POST", path: "/webhooks", body }, signal);
      let reply = await post();
      if (reply.kind === "reply" && reply.status === 409) {
        const removed = await removeAt(url, signal);
        if (removed.kind !== "found") return removed;
        reply = await post();
      }
      const made = readReply(reply, shapes.webhook);
      return made.kind === "found" ? found(made.value.data.id) : made;
    },
    check: async ({ id, url }, signal) => {
      const read = await api.read({ resource: "webhooks", path: toPath(id) }, shapes.webhook, signal);
      // Somebody deleted it in Cal.com.
      if (read.kind === "refused" && read.reason === "not_found") return found<SubscriptionState>("outdated");
      if (read.kind !== "found") return read;
      const { active, subscriberUrl, triggers } = read.value.data;
      const isAsMade = active && subscriberUrl === url && TRIGGERS.every((trigger) => triggers.includes(trigger));
      return found<SubscriptionState>(isAsMade ? "active" : "outdated");
    },
    remove,
  };
}

function toPath(id: string): string {
  return `/webhooks/${encodeURIComponent(id)}`;
}

/** Without a secret, Cal.com sends `no-secret-provided`. */
export function isSigned({ headers, body, secret }: SignedNotice): boolean {
  return hasSignature({ given: headers["x-cal-signature-256"], secret, signed: [body] });
}

/** After a move, `uid` is the new booking's. */
export function listNoticed(notice: unknown): string[] {
  if (!shapes.notice.Check(notice) || !TRIGGERS.includes(notice.triggerEvent)) return [];
  return [notice.payload.uid, notice.payload.rescheduleUid].filter((uid) => typeof uid === "string");
}
