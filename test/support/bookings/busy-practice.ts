import { BROWSER_STEPS } from "#contract/analytics/steps.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { importEvents } from "../../../src/server/analytics/import/import-events.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import { makeWidget, NOON } from "../builders.ts";
import { visitId } from "../funnel/hits.ts";
import { importLines, makeLine, toLines } from "./import-lines.ts";

// A dental clinic with months of visits and bookings, the same in every run, for testing the dashboard's screens.

const PLACES = [
  { share: 0.3, wish: 0.09, source: "google", medium: "organic" },
  { share: 0.18, wish: 0.16, source: "google", medium: "cpc", campaign: "autumn-checkup" },
  { share: 0.13, wish: 0.05 },
  { share: 0.1, wish: 0.03, source: "instagram", medium: "social", campaign: "smile-stories" },
  { share: 0.08, wish: 0.21, source: "newsletter", medium: "email", campaign: "october-recall" },
  { share: 0.06, wish: 0.07, source: "facebook", medium: "paid_social", campaign: "new-patients" },
  { share: 0.05, wish: 0.12, source: "bing", medium: "organic" },
  { share: 0.04, wish: 0.1, source: "jameda.de", medium: "referral" },
  { share: 0.03, wish: 0.14, source: "chatgpt.com", medium: "referral" },
  { share: 0.03, wish: 0.06, source: "microsoft", medium: "cpc", campaign: "autumn-checkup" },
] as const;

const SERVICES = ["Check-up", "Professional cleaning", "First consultation", "Whitening", "Children's check-up"];
const STAFF = ["Dr. Ada Winter", "Dr. Jonas Brandt", "Lea Sommer"];
const FIRST_NAMES = [
  "Mara",
  "Tim",
  "Aylin",
  "Jürgen",
  "Sofía",
  "Noah",
  "Zoë",
  "Paweł",
  "Hanna",
  "Omar",
  "Ines",
  "Björn",
];
const LAST_NAMES = [
  "Quell",
  "Albrecht",
  "Demir",
  "Größer",
  "Navarro",
  "Okafor",
  "Lindqvist",
  "Nowak",
  "Vogt",
  "Haddad",
];

export type Practice = { website: WidgetId; branch: WidgetId; old: WidgetId; bookings: number };

export async function fillPractice(
  db: Db,
  owner: OrganizationId,
  { days = 75, visitsPerDay = 14 }: { days?: number; visitsPerDay?: number } = {},
): Promise<Practice> {
  const createdAt = new Date(NOON.getTime() - days * DAY_MS);
  const website = await makeWidget(db, owner, { name: "Website", createdAt });
  const branch = await makeWidget(db, owner, { name: "Potsdam branch", createdAt: later(createdAt, 1) });
  const old = await makeWidget(db, owner, {
    name: "Old landing page",
    status: "paused",
    collectData: false,
    createdAt: later(createdAt, 2),
  });
  const visits = makeVisits({ website, branch, days, visitsPerDay });
  const events = visits.flatMap(({ events }) => events);
  const result = await importEvents(db, owner, { read: () => toLines(events), now: NOON, progress: () => {} });
  if (result.kind !== "imported") throw new Error(JSON.stringify(result));
  const bookings = visits.flatMap(({ booking }) => (booking ? [booking] : []));
  await importLines(db, owner, { lines: bookings });
  return { website, branch, old, bookings: bookings.length };
}

type Visits = { website: WidgetId; branch: WidgetId; days: number; visitsPerDay: number };

function makeVisits({ website, branch, days, visitsPerDay }: Visits) {
  const roll = createDice();
  const visits: { events: Record<string, unknown>[]; booking: Record<string, unknown> | null }[] = [];
  for (let day = days - 1; day >= 0; day--) {
    const dawn = NOON.getTime() - day * DAY_MS - 5 * HOUR_MS;
    const isWeekend = [0, 6].includes(new Date(dawn).getUTCDay());
    const count = Math.round(
      visitsPerDay * (isWeekend ? 0.55 : 1) * (0.75 + roll() / 2) * (1 + (days - day) / days / 3),
    );
    for (let n = 0; n < count; n++)
      visits.push(
        makeVisit({
          number: visits.length,
          widgetId: roll() < 0.72 ? website : branch,
          at: dawn + Math.floor(roll() * 290) * MINUTE_MS,
          roll,
        }),
      );
  }
  return visits;
}

const DEVICES = ["mobile", "desktop", "mobile", "mobile", "desktop", "tablet"];
const COUNTRIES = ["DE", "DE", "DE", "AT", "DE", "DE", "CH"];

function makeVisit(options: { number: number; widgetId: WidgetId; at: number; roll: () => number }) {
  const { number, widgetId, at, roll } = options;
  const { share: _share, wish, ...place } = pickPlace(roll());
  const shared = {
    widgetId,
    visitId: visitId(number),
    page: `https://www.lindenhof.example/${number % 4 === 0 ? "kontakt" : "book"}`,
    device: DEVICES[number % DEVICES.length],
    country: COUNTRIES[number % COUNTRIES.length],
    ...place,
  };
  const eventAt = (step: string, minutes: number, more: object = {}) => ({
    ...shared,
    step,
    at: new Date(at + minutes * MINUTE_MS).toISOString(),
    ...more,
  });
  const isBooked = roll() < wish;
  const steps = isBooked ? 5 : 1 + Math.floor(roll() ** 2.2 * 4.6);
  const events = BROWSER_STEPS.slice(0, steps).map((step, i) => eventAt(step, i));
  if (!isBooked && steps === 2 && roll() < 0.12) events.push(eventAt("no_availability", 2));
  if (!isBooked && steps === 5 && roll() < 0.3) events.push(eventAt("booking_failed", 6));
  if (!isBooked) return { events, booking: null };
  const start = new Date(at + Math.ceil((1 + roll() * 12) * 24) * HOUR_MS);
  events.push(
    eventAt("booking_completed", 6, { start: start.toISOString(), service: SERVICES[number % SERVICES.length] }),
  );
  return { events, booking: makeBookingLine({ widgetId, at: at + 6 * MINUTE_MS, start, place, number }) };
}

function makeBookingLine(options: {
  widgetId: WidgetId;
  at: number;
  start: Date;
  place: Partial<Record<"source" | "medium" | "campaign", string>>;
  number: number;
}): Record<string, unknown> {
  const { widgetId, at, start, place, number } = options;
  const first = FIRST_NAMES[number % FIRST_NAMES.length] ?? "";
  const last = LAST_NAMES[(number * 7) % LAST_NAMES.length] ?? "";
  const email = `${first}.${last}`
    .normalize("NFD")
    .replaceAll(/[^A-Za-z.]/g, "")
    .toLowerCase();
  return makeLine(widgetId, {
    createdAt: new Date(at).toISOString(),
    start: start.toISOString(),
    end: new Date(start.getTime() + 30 * MINUTE_MS).toISOString(),
    service: { id: `svc-${number % SERVICES.length}`, name: SERVICES[number % SERVICES.length] },
    staff: [STAFF[number % STAFF.length]],
    customer: { name: `${first} ${last}`, email: `${email}@example.com`, phone: "+49 30 5550100", notes: null },
    answers: [
      { questionId: "q_first_visit", question: "Is this your first visit?", answer: number % 3 ? "No" : "Yes" },
    ],
    attribution: {
      ...place,
      channel: place.medium === "cpc" ? "Paid Search" : place.medium === "email" ? "Email" : "Organic Search",
      landingPage: "https://www.lindenhof.example/",
      pageUrl: "https://www.lindenhof.example/book",
      touches: 1 + (number % 4),
    },
  });
}

function pickPlace(chance: number): (typeof PLACES)[number] {
  let rest = chance;
  for (const place of PLACES) {
    rest -= place.share;
    if (rest < 0) return place;
  }
  return PLACES[0];
}

function createDice(): () => number {
  let state = 20_261_101;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function later(instant: Date, minutes: number): Date {
  return new Date(instant.getTime() + minutes * MINUTE_MS);
}
