import type { Answer } from "#contract/bookings/booking.ts";
import type { Reference } from "#contract/ids.ts";
import type { SchedulingKind } from "#contract/scheduling.ts";
import type { SendFailureCode } from "#contract/webhooks/delivery.ts";
import type { FreeSlot, QuestionType } from "#contract/widgets/embed-api.ts";
import type { Mode } from "#contract/widgets/widget.ts";

// The port to scheduling systems. Failures of the system or the network are returned as values; an operation rejects
// only because of a bug. Every system passes test/support/scheduler/conformance/.

/** Every operation ends by itself; a caller's signal can end it sooner. */
export type SchedulingSystem = Operations<[signal?: AbortSignal]>;

/** An adapter as it is written. limit-system.ts gives every operation a signal that ends it. */
export type UnlimitedSystem = Operations<[signal: AbortSignal]>;

type Operations<Ending extends [signal?: AbortSignal]> = {
  readonly kind: SchedulingKind;
  /** What becomes of a booking: only in `live` is it a real appointment. */
  readonly mode: Mode;
  /** "Test": asks the system, bypassing everything kept in memory. */
  readonly verify: (...ending: Ending) => Promise<Read<Verified>>;
  readonly listServices: (...ending: Ending) => Promise<Read<readonly OfferedService[]>>;
  /** Available times that start at or after `from` and before `to`, sorted, none in the past. The range is at most 31 days. */
  readonly listSlots: (query: SlotQuery, ...ending: Ending) => Promise<Read<readonly Slot[]>>;
  /** Called once per reference. After `unknown`, the reference is looked up instead. */
  readonly book: (request: BookRequest, ...ending: Ending) => Promise<BookOutcome>;
  /** Finds the confirmed appointment that carries the reference. Needs no customer data. */
  readonly findByReference: (lookup: Lookup, ...ending: Ending) => Promise<FindOutcome>;
  /** Reads what has become of an appointment that was confirmed. */
  readonly follow: (appointment: ToFollow, ...ending: Ending) => Promise<Read<Followed>>;
  /** Which appointments to follow, because they may have changed. Null: the system reports every change itself. */
  readonly listChanged: ((query: ChangedQuery, ...ending: Ending) => Promise<Read<ChangedAppointments>>) | null;
  /** Has the system send notices of changes. Null: it can't, or we can't be reached. */
  readonly subscriptions: Subscriptions<Ending> | null;
  /** Cancels an appointment that this connection made. An appointment that is already gone counts as cancelled. */
  readonly cancel: (appointment: ToCancel, ...ending: Ending) => Promise<Read<"canceled">>;
};

export type Subscriptions<Ending extends [signal?: AbortSignal]> = {
  /** Replaces what was subscribed for the same address, and returns the system's id of the new subscription. */
  readonly create: (wanted: { url: string; secret: string }, ...ending: Ending) => Promise<Read<string>>;
  readonly check: (subscription: { id: string; url: string }, ...ending: Ending) => Promise<Read<SubscriptionState>>;
  /** One that is already gone counts as removed. */
  readonly remove: (id: string, ...ending: Ending) => Promise<Read<"removed">>;
};

/** `failing`: the system could not reach us lately. `outdated`: another one has to take its place. */
export type SubscriptionState = "active" | "failing" | "outdated";

export type Verified = {
  readonly businessName: string;
  /** IANA name; null when the system names a zone that we don't know. */
  readonly timeZone: string | null;
  /** The system's own booking page. */
  readonly bookingUrl: string | null;
  /** Sentences for the person who connects the system. */
  readonly warnings: readonly string[];
};

export type StaffMember = { readonly id: string; readonly name: string };

export type OfferedService = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly durationMinutes: number;
  readonly isOnline: boolean;
  /** A booking needs a phone number with its country code. */
  readonly phoneRequired?: boolean;
  /** The people a visitor can choose from; empty when the system chooses. */
  readonly staff: readonly StaffMember[];
  readonly staffSelectable: boolean;
  readonly questions: readonly Question[];
};

export type Question = {
  readonly id: string;
  readonly label: string;
  readonly type: QuestionType;
  /** Empty unless the type is `choice` or `choices`. */
  readonly options: readonly string[];
  readonly required: boolean;
};

export type SlotQuery = {
  readonly serviceId: string;
  readonly from: Date;
  readonly to: Date;
  readonly staffId: string | null;
  /** Called before the system is asked for times that are not known yet. If it returns false, the system isn't asked. */
  readonly mayAsk?: () => boolean;
};

export type Slot = {
  readonly startAt: Date;
  readonly endAt: Date;
  /** The people who are free; empty when the visitor cannot choose. */
  readonly staffIds: readonly string[];
};

export type BookRequest = {
  /** Reserved before the system is asked; written into the appointment's notes. */
  readonly reference: Reference;
  readonly serviceId: string;
  readonly startAt: Date;
  /** Null when the visitor has no preference. */
  readonly staffId: string | null;
  /** The people among whom the system chooses if the visitor has no preference; null or omitted: everyone. */
  readonly offeredStaffIds?: readonly string[] | null;
  readonly customer: {
    readonly name: string;
    readonly email: string;
    readonly phone: string | null;
    readonly notes: string | null;
    /** IANA name. */
    readonly timeZone: string;
    /** For example `de` or `pt-BR`. */
    readonly locale: string;
  };
  readonly answers: readonly Answer[];
};

export type Lookup = { readonly reference: Reference; readonly serviceId: string; readonly startAt: Date };

/** `startAt`: the last start that is known. */
export type ToFollow = Lookup & { readonly externalId: string };

export type ChangedQuery = {
  readonly since: Date;
  /** Upcoming appointments as they are known. */
  readonly known: readonly KnownAppointment[];
};

export type KnownAppointment = {
  readonly externalId: string;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly isCancelled: boolean;
};

export type ChangedAppointments = {
  /** Known ones, and perhaps others. */
  readonly externalIds: readonly string[];
  /** What the system changed before this, by its own clock, was seen. Null: as before. */
  readonly until: Date | null;
};

type ToCancel = { readonly externalId: string; readonly reference: Reference };

export type Booked = {
  readonly externalId: string;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly service: { readonly id: string; readonly name: string };
  readonly staff: readonly StaffMember[];
  readonly manageUrl: string | null;
  /** If the system has a page of its own for cancelling; `manageUrl` then changes the time. Shown to the visitor, not stored. */
  readonly cancelUrl?: string;
  readonly joinUrl: string | null;
};

/** What has become of an appointment. Moves are already followed: the times and the id are those it has now. */
export type Followed =
  | ({ readonly kind: "confirmed" } & Pick<Booked, "externalId" | "startAt" | "endAt" | "manageUrl" | "joinUrl">)
  | { readonly kind: "cancelled" };

export type Read<T> = { readonly kind: "found"; readonly value: T } | Failure;

export type FindOutcome = { readonly kind: "found"; readonly value: Booked } | { readonly kind: "absent" } | Failure;

export type BookOutcome =
  | { readonly kind: "booked"; readonly booked: Booked }
  /** Nothing was booked: the time is no longer free, or was never offered. */
  | { readonly kind: "slot_taken" }
  /** Nothing was booked. */
  | Failure
  /** The appointment may or may not exist. */
  | { readonly kind: "unknown"; readonly upstream: Upstream };

export type Failure =
  /** Asking again would get the same reply. */
  | {
      readonly kind: "refused";
      readonly reason: RefusalReason;
      readonly upstream: Upstream | null;
      /** Which of several credentials is wrong, if the system says so. */
      readonly wrong?: WrongCredential;
    }
  | {
      readonly kind: "unavailable";
      readonly retryAfterMs: number | null;
      readonly upstream: Upstream | null;
      /** The system was not asked: the account has used up its requests, or this visitor's network has. */
      readonly overLimit?: "account" | "visitor";
    };

type RefusalReason =
  /** The system rejects our credentials, or they lack a permission. */
  | "credentials"
  /** No such service, or no such business. */
  | "not_found"
  /** The system rejects the request, or this customer. */
  | "invalid"
  /** The system accepted the booking, but a person would have to confirm it. */
  | "not_confirmed"
  /** The system doesn't know the API version that the connection asks for. */
  | "version";

export type WrongCredential = "tenant" | "application" | "secret";

/** What a failure looked like on the wire, for the connection's health. Holds no customer data. */
export type Upstream = {
  readonly status: number | null;
  /** The system's own id of the request. */
  readonly requestId: string | null;
  /** Why there was no usable reply; null when there was one. */
  readonly failure: UpstreamFailure | null;
};

export type UpstreamFailure =
  | SendFailureCode
  | "too_large"
  | "unreadable"
  /** Not the system's fault: the caller left, our record of the connection is broken, the sandbox's database. */
  | "aborted"
  | "unsealed"
  | "settings"
  | "database";

export function found<T>(value: T): { readonly kind: "found"; readonly value: T } {
  return { kind: "found", value };
}

export function refused(reason: RefusalReason, upstream: Upstream | null = null): Failure {
  return { kind: "refused", reason, upstream };
}

export function unavailable(upstream: Upstream | null = null, retryAfterMs: number | null = null): Failure {
  return { kind: "unavailable", retryAfterMs, upstream };
}

/** For a reply that is a success but makes no sense. */
export const UNREADABLE: Upstream = { status: null, requestId: null, failure: "unreadable" };

export function overLimit(whose: "account" | "visitor", waitMs: number | null = null): Failure {
  return { kind: "unavailable", retryAfterMs: waitMs, upstream: null, overLimit: whose };
}

/** Whether the system may well work, but this request was one too many, for the system or for us. */
export function isOverLimit(outcome: { readonly kind: string } | Failure): boolean {
  if (outcome.kind !== "unavailable" || !("upstream" in outcome)) return false;
  return outcome.upstream?.status === 429 || ("overLimit" in outcome && outcome.overLimit !== undefined);
}

/** The shape that the booking frame gets. */
export function toFreeSlot({ startAt, endAt, staffIds }: Slot): FreeSlot {
  return { start: startAt.toISOString(), end: endAt.toISOString(), staffIds: [...staffIds] };
}
