import type { Step } from "#contract/analytics/steps.ts";
import type { Answer } from "#contract/bookings/booking.ts";
import { DAY_MS, SECOND_MS } from "#contract/durations.ts";
import { REFERENCE } from "#contract/ids.ts";
import type { ImportedBooking } from "#contract/imported-lines.ts";
import { type Conversion, type Hit, toCampaignKey, toStepBit, type VisitClass } from "../analytics/analytics.ts";
import { randomId, randomUuid } from "../lib/secrets/random.ts";
import type { SandboxService } from "../scheduler/scheduler.ts";
import { classifyWay, makeAttribution } from "./attribution.ts";
import type { Appointment, ClinicCalendar } from "./calendar.ts";
import { DEMO_ID, DEMO_SITE, type DemoWidget } from "./clinic.ts";
import type { Dice } from "./dice.ts";
import { type Customer, makeCustomer } from "./names.ts";
import type { TrafficSource } from "./traffic-sources.ts";

// One visit of the demo, from the first view to the last step, and its bookings.

export type DemoBooking = {
  readonly line: ImportedBooking;
  readonly appointment: Appointment;
  readonly change: DemoChange | null;
};
/** At this moment the appointment got another time, or was cancelled if there is none. */
type DemoChange = { readonly at: Date; readonly movedTo: Appointment | null };
export type DemoVisit = { readonly hits: readonly Hit[]; readonly bookings: readonly DemoBooking[] };

export type World = {
  readonly now: Date;
  readonly dice: Dice;
  /** Rolled for changes of appointments. */
  readonly changeDice: Dice;
  readonly calendars: ReadonlyMap<string, ClinicCalendar>;
  readonly customers: Customer[];
  /** References and instants that bookings have already used; both must be unique. */
  readonly used: Set<string | number>;
};

type Circumstances = {
  readonly way: TrafficSource;
  readonly widget: DemoWidget;
  readonly at: Date;
  /** The clinic is on holiday: few available times and fewer bookings. */
  readonly isHoliday: boolean;
  /** The scheduling system is failing. */
  readonly isOutage: boolean;
};

const MEAN_LEAD_DAYS = 6;
const LONGEST_LEAD_DAYS = 42;
/** Shares of all stored bookings. */
const CANCELLED_SHARE = 0.06;
const MOVED_SHARE = 0.05;
const LONGEST_MOVE_DAYS = 12;

/** The chance that a visitor who won't book takes each step after the one before. On phones, many give up at the form. */
const STAYS: readonly (readonly [Step, chance: number, onPhone: number])[] = [
  ["service_selected", 0.52, 0.56],
  ["date_selected", 0.72, 0.74],
  ["slot_selected", 0.6, 0.68],
  ["form_started", 0.62, 0.3],
];

type Weighted<T> = readonly [T & { readonly share: number }, ...(T & { readonly share: number })[]];

const DEVICES: Weighted<{ device: string; wish: number }> = [
  { share: 60, device: "mobile", wish: 0.86 },
  { share: 33, device: "desktop", wish: 1.26 },
  { share: 6, device: "tablet", wish: 1 },
  { share: 1, device: "other", wish: 0.4 },
];

const COUNTRIES: Weighted<{ country: string; timeZone: string }> = [
  { share: 760, country: "DE", timeZone: "Europe/Berlin" },
  { share: 50, country: "PL", timeZone: "Europe/Warsaw" },
  { share: 40, country: "AT", timeZone: "Europe/Vienna" },
  { share: 30, country: "CH", timeZone: "Europe/Zurich" },
  { share: 25, country: "GB", timeZone: "Europe/London" },
  { share: 20, country: "US", timeZone: "America/New_York" },
  { share: 15, country: "FR", timeZone: "Europe/Paris" },
  { share: 12, country: "TR", timeZone: "Europe/Istanbul" },
  { share: 10, country: "IT", timeZone: "Europe/Rome" },
  { share: 10, country: "UA", timeZone: "Europe/Kyiv" },
  { share: 8, country: "ES", timeZone: "Europe/Madrid" },
  { share: 6, country: "SE", timeZone: "Europe/Stockholm" },
  { share: 5, country: "IN", timeZone: "Asia/Kolkata" },
  { share: 4, country: "BR", timeZone: "America/Sao_Paulo" },
  { share: 3, country: "CA", timeZone: "America/Toronto" },
  { share: 2, country: "AU", timeZone: "Australia/Sydney" },
];

const TOPICS_OF_ARTICLES = ["gums", "implants", "whitening", "braces", "wisdom-teeth", "root-canal", "crowns", "diet"];
const KINDS_OF_ARTICLES = ["costs", "pain", "myths", "checklist", "children", "pregnancy", "aftercare"];
const ARTICLES = TOPICS_OF_ARTICLES.flatMap((topic) => KINDS_OF_ARTICLES.map((kind) => `/advice/${topic}-${kind}`));

/** A widget is on a page of its own, and in the popup of others. */
const PAGES: Weighted<{ path: string | null }> = [
  { share: 54, path: null },
  ...ARTICLES.map((path) => ({ share: 8 / ARTICLES.length, path })),
  { share: 16, path: "/" },
  { share: 9, path: "/services" },
  { share: 6, path: "/team" },
  { share: 4, path: "/prices" },
  { share: 3, path: "/contact" },
];

const TOPICS: readonly [string, ...string[]] = [
  "A crown came loose",
  "Second opinion about implants",
  "Zähneknirschen, vor allem nachts 😬",
  "New in town, looking for a dentist",
  "Wisdom teeth",
];

export function makeVisit(world: World, circumstances: Circumstances): DemoVisit {
  const { dice } = world;
  const { way, widget } = circumstances;
  const { device, wish } = dice.pickByShare(DEVICES);
  const { country, timeZone } = dice.pickByShare(COUNTRIES);
  const { path } = dice.pickByShare(PAGES);
  const walk = new Walk(dice, circumstances.at, {
    organizationId: DEMO_ID,
    widgetId: widget.id,
    visitId: randomUuid(dice),
    page: path === null ? widget.page : DEMO_SITE + path,
    device,
    country,
    ...toVisitClass(way),
  });
  walk.take("widget_viewed");
  if (!dice.falls(way.wish * wish * (circumstances.isHoliday ? 0.5 : 1))) {
    lookAround(dice, walk, { ...circumstances, isPhone: device === "mobile" });
    return { hits: walk.hits, bookings: [] };
  }
  return { hits: walk.hits, bookings: bookAppointments(world, walk, { ...circumstances, timeZone }) };
}

const classes = new Map<TrafficSource, VisitClass>();

/** Cached, because there are few ways and many visits. */
function toVisitClass(way: TrafficSource): VisitClass {
  const known = classes.get(way);
  if (known) return known;
  const { source, medium, campaign, channel } = classifyWay(way);
  const made = { source, medium, campaign: toCampaignKey(campaign), channel };
  classes.set(way, made);
  return made;
}

type DemoVisitFacts = Omit<Hit, "at" | "steps" | "conversion">;

class Walk {
  readonly hits: Hit[] = [];
  readonly #dice: Dice;
  readonly #visit: DemoVisitFacts;
  #atMs: number;

  constructor(dice: Dice, at: Date, visit: DemoVisitFacts) {
    this.#dice = dice;
    this.#visit = visit;
    this.#atMs = at.getTime();
  }

  take(step: Step, seconds = this.#dice.between(4, 45), conversion: Conversion | null = null): Date {
    if (this.hits.length > 0) this.#atMs += seconds * SECOND_MS + 1;
    const at = new Date(this.#atMs);
    this.hits.push({ ...this.#visit, at, steps: toStepBit(step), conversion });
    return at;
  }

  fail(): void {
    this.take("booking_failed", undefined, { step: "booking_failed", key: randomUuid(this.#dice), startAt: null });
  }

  /** Delays the next step, when its instant is already used. */
  moveOn(ms: number): void {
    this.#atMs += ms;
  }

  get nextMs(): number {
    return this.#atMs;
  }
}

function lookAround(
  dice: Dice,
  walk: Walk,
  { isHoliday, isOutage, isPhone }: Circumstances & { isPhone: boolean },
): void {
  let furthest: Step = "widget_viewed";
  for (const [step, chance, onPhone] of STAYS) {
    if (furthest === "service_selected" && dice.falls(isHoliday ? 0.3 : 0.035)) {
      walk.take("no_availability");
      return;
    }
    if (!dice.falls(isPhone ? onPhone : chance)) break;
    walk.take(step);
    furthest = step;
  }
  if (furthest === "form_started" && dice.falls(isOutage ? 0.8 : 0.06)) walk.fail();
}

function bookAppointments(
  world: World,
  walk: Walk,
  circumstances: Circumstances & { timeZone: string },
): DemoBooking[] {
  const { dice } = world;
  walk.take("service_selected");
  const first = findAppointment(world, walk, circumstances);
  if (first === null) {
    walk.take("no_availability");
    return [];
  }
  for (const step of ["date_selected", "slot_selected", "form_started"] as const) walk.take(step);
  if (dice.falls(circumstances.isOutage ? 0.5 : 0.02)) walk.fail();
  const customer = findCustomer(world);
  // Sometimes a second appointment, for a family member.
  const second = dice.falls(0.03) ? findAppointment(world, walk, circumstances) : null;
  return [first, ...(second ? [second] : [])].flatMap((appointment) => {
    const line = complete(world, walk, { ...circumstances, appointment, customer });
    if (!circumstances.widget.storesBookings) return [];
    return [{ line, appointment, change: chooseChange(world, { line, appointment }) }];
  });
}

/** Between the booking and its appointment, if that is not in the future. */
function chooseChange(
  { now, changeDice: dice, calendars }: World,
  { line, appointment }: Omit<DemoBooking, "change">,
): DemoChange | null {
  const roll = dice.roll();
  if (roll >= CANCELLED_SHARE + MOVED_SHARE) return null;
  const createdMs = Date.parse(line.createdAt);
  const at = new Date(createdMs + Math.ceil((appointment.startAt.getTime() - createdMs) * (0.1 + 0.8 * dice.roll())));
  if (at > now) return null;
  if (roll < CANCELLED_SHARE) return { at, movedTo: null };
  const movedTo = calendars.get(line.widgetId)?.take(dice, {
    ...appointment,
    earliest: new Date(at.getTime() + dice.between(1, LONGEST_MOVE_DAYS) * DAY_MS),
  });
  return movedTo ? { at, movedTo } : null;
}

/** The funnel's last step and the stored booking, with the same instant and appointment. */
function complete(
  world: World,
  walk: Walk,
  circumstances: Circumstances & { appointment: Appointment; customer: Customer; timeZone: string },
): ImportedBooking {
  const { dice, used } = world;
  const { widget, appointment, customer } = circumstances;
  const { service, staffId, startAt } = appointment;
  const seconds = dice.between(35, 150);
  while (used.has(walk.nextMs + seconds * SECOND_MS + 1)) walk.moveOn(1);
  const reference = takeReference(world);
  const key = randomUuid(dice);
  const createdAt = walk.take("booking_completed", seconds, {
    step: "booking_completed",
    key,
    startAt,
    service: service.name,
  });
  used.add(createdAt.getTime());
  const endMs = startAt.getTime() + service.durationMinutes * 60 * SECOND_MS;
  const staff = world.calendars.get(widget.id)?.setup.staff.find(({ id }) => id === staffId);
  return {
    widgetId: widget.id,
    reference,
    createdAt: createdAt.toISOString(),
    start: startAt.toISOString(),
    end: new Date(endMs).toISOString(),
    timeZone: circumstances.timeZone,
    service: { id: service.id, name: service.name },
    staff: staff ? [staff.name] : [],
    customer,
    answers: makeAnswers(dice, service),
    attribution: makeAttribution(dice, { way: circumstances.way, page: widget.page, at: circumstances.at }),
  };
}

function findAppointment(world: World, walk: Walk, { widget }: Circumstances): Appointment | null {
  const { dice } = world;
  const calendar = world.calendars.get(widget.id);
  const [service, ...others] = calendar?.setup.services ?? [];
  if (!calendar || !service) return null;
  const leadDays = Math.min(LONGEST_LEAD_DAYS, 0.15 - Math.log(1 - dice.roll()) * MEAN_LEAD_DAYS);
  const earliest = new Date(walk.nextMs + leadDays * DAY_MS);
  return calendar.take(dice, { service: dice.pick([service, ...others]), earliest });
}

/** One customer in six has booked before. */
function findCustomer({ dice, customers }: World): Customer {
  const [first, ...others] = customers;
  if (first && dice.falls(0.17)) return { ...dice.pick([first, ...others]), notes: null };
  const customer = makeCustomer(dice, customers.length + 1);
  customers.push(customer);
  return customer;
}

function takeReference({ dice, used }: World): string {
  for (;;) {
    const reference = randomId<string>(dice, REFERENCE);
    if (used.has(reference)) continue;
    used.add(reference);
    return reference;
  }
}

function makeAnswers(dice: Dice, { questions }: SandboxService): Answer[] {
  return questions.flatMap(({ id, label, options, required }) => {
    if (!required && dice.falls(0.25)) return [];
    const [option, ...others] = options;
    const text = id === "age" ? String(dice.between(2, 12)) : dice.pick(TOPICS);
    return [{ questionId: id, question: label, answer: option ? dice.pick([option, ...others]) : text }];
  });
}
