import type { KeptRead } from "../kept-read.ts";
import { hasSignature, type SignedNotice } from "../notices/signature.ts";
import { readReply, toCanceled } from "../read-reply.ts";
import { found, type Read, type SubscriptionState, type Subscriptions } from "../scheduling-system.ts";
import { type CalendlyApi, PAGE_SIZE, toUuid } from "./api.ts";
import type { Catalog } from "./catalog.ts";
import { toEventUuid } from "./follow.ts";
import { shapes } from "./shapes.ts";

// Calendly's webhook subscriptions, for users on paid plans. After a day in which it could not deliver, Calendly switches a
// subscription off and tells nobody; it can't be switched on again, only replaced. Whether a repeated notice has a new time in its
// signature isn't documented, so old ones are accepted: a notice only says which appointment to read.

const EVENTS = ["invitee.created", "invitee.canceled"];

export function createSubscriptions(
  api: CalendlyApi,
  catalog: Pick<KeptRead<Catalog>, "get">,
): Subscriptions<[signal: AbortSignal]> {
  const remove = async (id: string, signal: AbortSignal): Promise<Read<"removed">> => {
    const gone = toCanceled(await api.delete(toPath(id), signal));
    return gone.kind === "found" ? found("removed") : gone;
  };
  const removeAt = async (url: string, scopes: readonly Scope[], signal: AbortSignal): Promise<Read<"removed">> => {
    for (const scope of scopes) {
      const query = { ...scope, ...PAGE_SIZE };
      const listed = await api.list({ path: "/webhook_subscriptions", query }, shapes.subscriptions, signal);
      if (listed.kind !== "found") return listed;
      for (const { uri } of listed.value.filter(({ callback_url }) => callback_url === url)) {
        const removed = await remove(toUuid(uri), signal);
        if (removed.kind !== "found") return removed;
      }
    }
    return found("removed");
  };
  return {
    create: async ({ url, secret }, signal) => {
      const account = await catalog.get(signal);
      if (account.kind !== "found") return account;
      const scopes = toScopes(account.value);
      const body = { url, events: EVENTS, ...scopes[0], signing_key: secret };
      const post = () => api.post("/webhook_subscriptions", body, signal);
      let reply = await post();
      if (reply.kind === "reply" && reply.status === 409) {
        const removed = await removeAt(url, scopes, signal);
        if (removed.kind !== "found") return removed;
        reply = await post();
      }
      const made = readReply(reply, shapes.subscription);
      return made.kind === "found" ? found(toUuid(made.value.resource.uri)) : made;
    },
    check: async ({ id, url }, signal) => {
      const account = await catalog.get(signal);
      if (account.kind !== "found") return account;
      const read = await api.read(toPath(id), shapes.subscription, signal);
      if (read.kind === "refused" && read.reason === "not_found") return found<SubscriptionState>("outdated");
      if (read.kind !== "found") return read;
      const { state, callback_url, scope, retry_started_at } = read.value;
      const isAsWanted = state === "active" && callback_url === url && scope === toScopes(account.value)[0].scope;
      if (!isAsWanted) return found<SubscriptionState>("outdated");
      return found<SubscriptionState>(retry_started_at ? "failing" : "active");
    },
    remove,
  };
}

type Scope = { readonly organization: string; readonly scope: "organization" | "user"; readonly user?: string };

/** The one that is wanted, and others that were. Bookings of a pooled event type can be with any member, which admins may follow. */
function toScopes({ organizationUri: organization, userUri: user, services }: Catalog): [Scope, ...Scope[]] {
  const own: Scope = { organization, scope: "user", user };
  return services.some(({ isPooled }) => isPooled) ? [{ organization, scope: "organization" }, own] : [own];
}

function toPath(id: string): string {
  return `/webhook_subscriptions/${encodeURIComponent(id)}`;
}

export function isSigned({ headers, body, secret }: SignedNotice): boolean {
  const header = String(headers["calendly-webhook-signature"] ?? "");
  const [, time = "", given] = /^t=([0-9]{1,15}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  return hasSignature({ given, secret, signed: [time, ".", body] });
}

/** The ids of events. Of new bookings, only those that take another one's place are of interest. */
export function listNoticed(notice: unknown): string[] {
  if (!shapes.notice.Check(notice) || !EVENTS.includes(notice.event)) return [];
  const { event: eventUri, old_invitee: old } = notice.payload;
  const uuid = notice.event === "invitee.created" ? toEventUuid(old) : eventUri && toUuid(eventUri);
  return uuid ? [uuid] : [];
}
