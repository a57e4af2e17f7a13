import type { FreeSlot, QuestionType } from "#contract/book.ts";
import type { Answer } from "#contract/booking.ts";
import type { Reference } from "#contract/ids.ts";
import type { SchedulingKind } from "#contract/scheduling.ts";
import type { SendFailureCode } from "#contract/send-failure.ts";

// What a scheduling system is to the rest of the service. Whatever the system or the network does comes back as a value;
// an operation rejects only for a bug of ours. Every system passes conformance.ts.

/** Each operation ends by itself; with a signal, a caller can end it sooner. */
export type SchedulingSystem = Operations<[signal?: AbortSignal]>;

/** As each system is written: limit-system.ts gives every operation a signal that ends it. */
export type UnlimitedSystem = Operations<[signal: AbortSignal]>;

type Operations<Ending extends [signal?: AbortSignal]> = {
  readonly kind: SchedulingKind;
  /** "Test connection": asks the system anew, whatever is kept in memory. */
  readonly verify: (...ending: Ending) => Promise<Read<Verified>>;
  readonly listServices: (...ending: Ending) => Promise<Read<readonly OfferedService[]>>;
  /** Free times that start at or after `from` and before `to`, in their order, none of them past. At most 31 days. */
  readonly listSlots: (query: SlotQuery, ...ending: Ending) => Promise<Read<readonly Slot[]>>;
  /** Never called twice for one reference: after `unknown`, look the reference up. */
  readonly book: (request: BookRequest, ...ending: Ending) => Promise<BookOutcome>;
  /** The confirmed appointment that carries the reference. Needs nothing about the customer. */
  readonly findByReference: (sought: Sought, ...ending: Ending) => Promise<FindOutcome>;
};

export type Verified = {
  readonly businessName: string;
  /** IANA name; null where the system names none that we know. */
  readonly timeZone: string | null;
  /** The system's own booking page. */
  readonly bookingUrl: string | null;
  /** Sentences for the person who connects it. */
  readonly warnings: readonly string[];
};

export type StaffMember = { readonly id: string; readonly name: string };

export type OfferedService = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly durationMinutes: number;
  readonly isOnline: boolean;
  /** Whom a visitor may choose; empty where the system chooses. */
  readonly staff: readonly StaffMember[];
  readonly staffSelectable: boolean;
  readonly questions: readonly Question[];
};

export type Question = {
  readonly id: string;
  readonly label: string;
  readonly type: QuestionType;
  /** Empty but for a choice. */
  readonly options: readonly string[];
  readonly required: boolean;
};

export type SlotQuery = {
  readonly serviceId: string;
  readonly from: Date;
  readonly to: Date;
  readonly staffId: string | null;
};

export type Slot = {
  readonly startAt: Date;
  readonly endAt: Date;
  /** Who is free then; empty where the visitor cannot choose. */
  readonly staffIds: readonly string[];
};

export type BookRequest = {
  /** Reserved beforehand; goes into the notes of the appointment. */
  readonly reference: Reference;
  readonly serviceId: string;
  readonly startAt: Date;
  /** Null: whoever the system picks. */
  readonly staffId: string | null;
  readonly customer: {
    readonly name: string;
    readonly email: string;
    readonly phone: string | null;
    readonly notes: string | null;
    /** IANA name. */
    readonly timeZone: string;
    /** Like `de` or `pt-BR`. */
    readonly locale: string;
  };
  readonly answers: readonly Answer[];
};

export type Sought = { readonly reference: Reference; readonly serviceId: string; readonly startAt: Date };

/** A confirmed appointment, in the system's own words. */
export type Booked = {
  readonly externalId: string;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly service: { readonly id: string; readonly name: string };
  readonly staff: readonly StaffMember[];
  readonly manageUrl: string | null;
  readonly joinUrl: string | null;
};

export type Read<T> = { readonly kind: "found"; readonly value: T } | Failure;

export type FindOutcome = { readonly kind: "found"; readonly value: Booked } | { readonly kind: "absent" } | Failure;

export type BookOutcome =
  | { readonly kind: "booked"; readonly booked: Booked }
  /** Not made: the time is no longer free, or was never offered. */
  | { readonly kind: "slot_taken" }
  /** Not made. */
  | Failure
  /** It may or may not have been made. */
  | { readonly kind: "unknown"; readonly upstream: Upstream };

export type Failure =
  /** Asking again would change nothing. */
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly upstream: Upstream | null }
  | { readonly kind: "unavailable"; readonly retryAfterMs: number | null; readonly upstream: Upstream | null };

type RefusalReason =
  /** The system does not accept who we are, or what we may do. */
  | "credentials"
  /** No such service, or no such business. */
  | "not_found"
  /** The system does not accept what was asked. */
  | "invalid"
  /** The system took it, but a person would have to confirm it first. */
  | "not_confirmed";

/** What a fault looked like at the system, for the connection's health; nothing of it is about a customer. */
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
  /** Not the system's doing: the caller went away, our own record of the connection, the sandbox's database. */
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

/** As the booking frame gets it. */
export function toFreeSlot({ startAt, endAt, staffIds }: Slot): FreeSlot {
  return { start: startAt.toISOString(), end: endAt.toISOString(), staffIds: [...staffIds] };
}
