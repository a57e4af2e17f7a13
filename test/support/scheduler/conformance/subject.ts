import type { Reference } from "#contract/ids.ts";
import type { UnlimitedSystem } from "../../../../src/server/scheduler/scheduling-system.ts";

/** A scheduling system to test. Each test gets a new one; its services are named after what a test needs. */
export type ConformanceSubject = {
  readonly system: UnlimitedSystem;
  readonly now: Date;
  readonly services: {
    /** Has available times within a week, one place in each, and no questions. */
    readonly plain: string;
    /** Has a required text question and a choice. */
    readonly asking: string;
    /** Lets the visitor choose between at least two people; null if the system never does. */
    readonly choosable: string | null;
    readonly online: string;
    /** For several people at one time; null if the system has none, or they are not offered. */
    readonly group: { readonly id: string; readonly seatCount: number } | null;
    /** Exist in the account, but a visitor could not book them with immediate confirmation. */
    readonly notOffered: readonly string[];
  };
  /** The system also books free times between those that it offers. */
  readonly booksAnyMinute?: boolean;
  /** The business or the customer cancels or moves the appointment in the system's own pages. */
  readonly cancelThere: (reference: Reference) => Promise<void>;
  readonly moveThere: (reference: Reference, startAt: Date) => Promise<void>;
  /** What was received with an appointment; null if the system stores nothing about customers. */
  readonly readArrived: ((reference: Reference) => Promise<Arrived>) | null;
};

type Arrived = {
  readonly name: string;
  readonly email: string;
  /** Everything a person at the business can read in the appointment. */
  readonly notes: string;
  readonly answers: Readonly<Record<string, string>>;
};
