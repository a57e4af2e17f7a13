import type { ConnectionCheckStepName } from "#contract/app/connections.ts";
import { DAY_MS } from "#contract/durations.ts";
import { type ConnectionId, type OrganizationId, REFERENCE, type Reference } from "#contract/ids.ts";
import { type ConnectionKind, TICKED } from "#contract/scheduling.ts";
import type { QuestionType } from "#contract/widgets/embed-api.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { toInstantWords } from "../../lib/time/calendar.ts";
import { ConnectionHealth, watchSystem } from "../connections/connection-health.ts";
import type { ConnectionParts } from "../connections/connection-settings.ts";
import { describeFailure } from "../connections/describe-failure.ts";
import { openParts, type PartsDeps, readConnectionParts } from "../open-system.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import type { BookOutcome, Failure, OfferedService, SchedulingSystem, Slot } from "../scheduling-system.ts";
import { type Exchange, Mask, recordExchanges } from "./record-exchanges.ts";

// Tests a connection with the real account: reads the services and their available times for two weeks and, if asked, makes one test
// appointment, finds it by its reference and cancels it. Every request and response is recorded.

export type ConnectionCheck = {
  readonly kind: ConnectionKind;
  /** The connection's settings, which a replay needs. */
  readonly settings: Readonly<Record<string, string>>;
  readonly checkedAt: string;
  /** The reference of the test appointment. */
  readonly reference: Reference;
  /** The address of the test customer. */
  readonly email: string;
  readonly isWorking: boolean;
  readonly verdict: string;
  readonly steps: readonly CheckStep[];
  readonly exchanges: readonly Exchange[];
};

type CheckStep = {
  readonly name: ConnectionCheckStepName;
  readonly isOk: boolean;
  readonly message: string;
  /** What is not offered and why, and limits to know. */
  readonly notes?: string[];
};

export const CHECK_DAYS = 14;
/** Each service takes a request or two, and systems limit them. */
const SERVICES_MAX = 10;
const TEST_EMAIL = "bookflow-test@example.com";

export async function checkConnection(
  deps: OpenDeps,
  owner: OrganizationId,
  wanted: { id: ConnectionId; withBooking: boolean; email: string | null },
): Promise<ConnectionCheck | { kind: "not_found" } | { kind: "closed" }> {
  const parts = await readConnectionParts(deps, owner, wanted.id);
  if (parts === null) return { kind: "not_found" };
  if (parts === "closed") return { kind: "closed" };
  const reference = randomId<Reference>(deps.random, REFERENCE);
  const { id, withBooking, email } = wanted;
  const health = new ConnectionHealth(deps, { owner, id });
  const check = { withBooking, email: email ?? TEST_EMAIL, reference };
  return await checkParts(deps, parts, check, (system) => watchSystem(system, health));
}

/** With the clock, the address and the reference of a saved check, the same requests are made again. */
export async function checkParts(
  deps: PartsDeps,
  parts: ConnectionParts,
  wanted: { withBooking: boolean; email: string; reference: Reference },
  watch: (system: SchedulingSystem) => SchedulingSystem = (system) => system,
): Promise<ConnectionCheck> {
  const mask = new Mask({ secrets: Object.values(parts.credentials), reference: wanted.reference });
  const { outbound, exchanges } = recordExchanges({ ...deps.scheduler, clock: deps.clock }, mask);
  const now = deps.clock.now();
  // The adapter's clock stands still. Otherwise its requests would depend on how long the check takes, and a replay would differ.
  const clock = { now: () => now };
  const system = watch(openParts({ clock, scheduler: { ...deps.scheduler, outbound } }, parts));
  const steps: CheckStep[] = [];
  await runSteps(system, { ...wanted, now }, (step) => steps.push(maskStep(step, mask)));
  const failed = steps.find(({ isOk }) => !isOk);
  return {
    kind: parts.kind,
    settings: parts.settings,
    checkedAt: now.toISOString(),
    reference: wanted.reference,
    email: wanted.email,
    isWorking: failed === undefined,
    verdict: failed ? `The test failed. ${failed.message}` : toPraise(wanted.withBooking),
    steps,
    exchanges,
  };
}

function maskStep({ name, isOk, message, notes = [] }: CheckStep, mask: Mask): CheckStep {
  const masked = { name, isOk, message: mask.text(message) };
  return notes.length === 0 ? masked : { ...masked, notes: notes.map((note) => mask.text(note)) };
}

function toPraise(withBooking: boolean): string {
  return withBooking
    ? "This connection works: a test appointment was booked, found and cancelled."
    : "This connection can read services and available times. Nothing was booked.";
}

type Check = { withBooking: boolean; email: string; now: Date; reference: Reference };

/** Stops at the first step that fails, because the later ones need it. */
async function runSteps(system: SchedulingSystem, check: Check, report: (step: CheckStep) => void): Promise<void> {
  const fail = (name: ConnectionCheckStepName, failure: Failure) =>
    report({ name, isOk: false, message: `${describeFailure(failure, system.kind)}${toStatus(failure)}` });

  const verified = await system.verify();
  if (verified.kind !== "found") return fail("account", verified);
  const { businessName, timeZone, warnings } = verified.value;
  const zone = timeZone === null ? NO_TIME_ZONE : `time zone ${timeZone}.`;
  const account = `Signed in as “${businessName}”, ${zone}`;
  report({ name: "account", isOk: timeZone !== null, message: account, notes: [...warnings] });
  if (timeZone === null) return;

  const services = await system.listServices();
  if (services.kind !== "found") return fail("services", services);
  const names = services.value.map(({ name }) => name).join(", ");
  const message = names === "" ? "No service can be booked." : `Services: ${names}.`;
  report({ name: "services", isOk: services.value.length > 0, message });

  const offers: Offer[] = [];
  for (const service of services.value.slice(0, SERVICES_MAX)) {
    const range = { from: check.now, to: new Date(check.now.getTime() + CHECK_DAYS * DAY_MS) };
    const slots = await system.listSlots({ serviceId: service.id, staffId: null, ...range });
    if (slots.kind !== "found") return fail("free_times", slots);
    offers.push({ service, slots: slots.value });
  }
  if (offers.length === 0) return;
  const counts = offers.map(({ service, slots }) => `${service.name} ${slots.length}`).join(", ");
  const hasTimes = offers.some(({ slots }) => slots.length > 0);
  const times = hasTimes ? `Available times in the next ${CHECK_DAYS} days: ${counts}.` : NO_TIMES;
  const notes = services.value.length > SERVICES_MAX ? [ONLY_FIRST] : [];
  report({ name: "free_times", isOk: hasTimes, message: times, notes });
  if (check.withBooking && hasTimes) await runBooking(system, { ...check, offers }, report);
}

type Offer = { service: OfferedService; slots: readonly Slot[] };

const NO_TIME_ZONE = "which has no time zone that Bookflow knows. Set one in the account.";
const ONLY_FIRST = `Available times were read for the first ${SERVICES_MAX} services only.`;
const NO_TIMES = `No service has an available time in the next ${CHECK_DAYS} days. Check opening hours and staff.`;

async function runBooking(
  system: SchedulingSystem,
  { offers, email, reference }: Check & { offers: readonly Offer[] },
  report: (step: CheckStep) => void,
): Promise<void> {
  const offer = offers.find(({ slots }) => slots.length > 0);
  // The last time is the least disruptive for the business.
  const slot = offer?.slots.at(-1);
  if (!offer || !slot) return;
  const { service } = offer;
  const sought = { reference, serviceId: service.id, startAt: slot.startAt };
  const outcome = await system.book({ ...sought, ...toTestBooking(service, email) });
  const at = toInstantWords(slot.startAt, "UTC");
  if (outcome.kind !== "booked" && outcome.kind !== "unknown")
    return report({ name: "book", isOk: false, message: describeRefusal(outcome) });

  // The appointment may exist even if its confirmation was lost.
  const found = await system.findByReference(sought);
  const foundId = found.kind === "found" ? found.value.externalId : null;
  const externalId = outcome.kind === "booked" ? outcome.booked.externalId : foundId;
  const isFound = foundId !== null && foundId === externalId;
  const isCanceled = externalId !== null && (await system.cancel({ externalId, reference })).kind === "found";

  const booked = `Booked ${service.name} for ${at} with reference ${reference}.`;
  const unconfirmed = "The scheduling system didn't confirm the booking.";
  const pleaseCheck = isCanceled ? "" : ` Check its calendar for ${reference}, ${at}.`;
  const isBooked = outcome.kind === "booked";
  report({ name: "book", isOk: isBooked, message: isBooked ? booked : `${unconfirmed}${pleaseCheck}` });
  report({
    name: "find",
    isOk: isFound,
    message: isFound ? "Found the appointment by its reference." : "The appointment was not found by its reference.",
  });
  if (externalId === null) return;
  const pleaseCancel = `Couldn't cancel the appointment. Cancel appointment ${reference} (${at}) in the scheduling system.`;
  report({ name: "cancel", isOk: isCanceled, message: isCanceled ? "Cancelled the appointment." : pleaseCancel });
}

/** A number that is never assigned (Ofcom, numbers for drama use). */
const TEST_PHONE = "+44 20 7946 0000";
const TEST_ANSWERS: Partial<Record<QuestionType, string>> = { number: "1", phone: TEST_PHONE, tick: TICKED };

function toTestBooking(service: OfferedService, email: string) {
  return {
    staffId: null,
    customer: {
      name: "Bookflow Test",
      email,
      phone: service.phoneRequired ? TEST_PHONE : null,
      notes: "Test by Bookflow. It will be cancelled immediately.",
      timeZone: "UTC",
      locale: "en",
    },
    answers: service.questions
      .filter(({ required }) => required)
      .map(({ id, label, type, options }) => ({
        questionId: id,
        question: label,
        answer: options[0] ?? TEST_ANSWERS[type] ?? "Test",
      })),
  };
}

function describeRefusal(outcome: Exclude<BookOutcome, { kind: "booked" | "unknown" }>): string {
  return outcome.kind === "slot_taken"
    ? "The scheduling system offered a time and then reported it as taken."
    : `The booking was not accepted.${toStatus(outcome)}`;
}

function toStatus({ upstream }: Failure): string {
  if (upstream === null) return "";
  return upstream.status === null ? ` (${upstream.failure})` : ` (HTTP ${upstream.status})`;
}
