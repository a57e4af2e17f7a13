import type { Answer } from "#contract/booking.ts";
import type { Reference } from "#contract/ids.ts";
import type { SchedulingKind } from "#contract/scheduling.ts";

// What a scheduling system is to the rest of the service. Whatever the system or the network does comes back as a value;
// an operation rejects only for a bug of ours. Every system passes conformance.ts.

export type SchedulingSystem = {
  readonly kind: SchedulingKind;
  /** "Test connection": asks the system anew, whatever is kept in memory. */
  verify(signal: AbortSignal): Promise<Read<Verified>>;
  listServices(signal: AbortSignal): Promise<Read<readonly OfferedService[]>>;
  /** Free times that start at or after `from` and before `to`, in their order, none of them past. At most 31 days. */
  listSlots(query: SlotQuery, signal: AbortSignal): Promise<Read<readonly Slot[]>>;
  /** Never called twice for one reference: after `unknown`, look the reference up. */
  book(request: BookRequest, signal: AbortSignal): Promise<BookOutcome>;
  /** The confirmed appointment that carries the reference. Needs nothing about the customer. */
  findByReference(sought: Sought, signal: AbortSignal): Promise<FindOutcome>;
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
  readonly type: "text" | "choice";
  /** Empty for a text. */
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

export type RefusalReason =
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
  /** Why there was no usable reply: `timeout`, `dns_error`, `unreadable`, …; null when there was one. */
  readonly failure: string | null;
};

export function found<T>(value: T): { readonly kind: "found"; readonly value: T } {
  return { kind: "found", value };
}

export function refused(reason: RefusalReason, upstream: Upstream | null = null): Failure {
  return { kind: "refused", reason, upstream };
}

export function unavailable(upstream: Upstream | null = null, retryAfterMs: number | null = null): Failure {
  return { kind: "unavailable", retryAfterMs, upstream };
}
