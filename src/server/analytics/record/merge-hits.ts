import { sql } from "kysely";
import type { Step } from "#contract/analytics/steps.ts";
import { replaceOther } from "./capped-keys.ts";
import { type Hit, toStepBit, toVisitName } from "./hit.ts";
import { KEY_KINDS, toVisitKeys, type VisitKeys } from "./key-id.ts";

/** The columns of funnel_visits that hold the earliest instant of a step. Conversions have maps instead. */
export const STEP_COLUMNS = [
  { column: "viewed_at", step: "widget_viewed" },
  { column: "service_at", step: "service_selected" },
  { column: "date_at", step: "date_selected" },
  { column: "slot_at", step: "slot_selected" },
  { column: "form_at", step: "form_started" },
  { column: "no_availability_at", step: "no_availability" },
] as const satisfies readonly { column: string; step: Step }[];

/** The latest instant of a row of funnel_visits; nulls are ignored. */
export const lastAt = sql`greatest(started_at, converted_at, ${sql.join(STEP_COLUMNS.map(({ column }) => sql.ref(column)))})`;

/**
 * The furthest of the six funnel steps of a row of funnel_visits, from 1. Every visit has seen the widget, and every attempt to
 * book includes picking a time and starting the form. So a visit that picked a time counts as having picked a day, as the
 * contract says.
 */
export const furthest = sql`case
  when bookings is not null then 6
  when form_at is not null or failures is not null then 5
  when slot_at is not null then 4
  when date_at is not null then 3
  when service_at is not null then 2
  else 1 end`;

const STEP_BITS = STEP_COLUMNS.map(({ step }) => toStepBit(step));

/** What one batch says about a visit; the database merges it with the stored row by the same rules. */
export type VisitPart = {
  /** The earliest hit, which the visit is counted under. */
  start: Hit;
  keys: VisitKeys;
  /** Earliest instant of each of STEP_COLUMNS. */
  stepTimes: (Date | null)[];
  convertedAt: Date | null;
  bookings: ConversionMap | null;
  failures: ConversionMap | null;
};

const SERVICE_LENGTH_MAX = 200;

/** With the service if it is known. */
type ConversionTimes = readonly [atMs: number, leadMs: number | null, service?: string];
type ConversionMap = Readonly<Record<string, ConversionTimes>>;

/** Merges the hits of each visit. Their order does not matter: every rule here is a minimum, maximum or union. */
export function mergeHits(hits: readonly Hit[]): VisitPart[] {
  const visits = new Map<string, VisitPart>();
  for (const hit of hits) {
    const name = toVisitName(hit);
    const visit = visits.get(name);
    if (visit) addHit(visit, hit);
    else visits.set(name, toPart(hit));
  }
  return [...visits.values()];
}

function toPart(hit: Hit): VisitPart {
  const part: VisitPart = {
    start: hit,
    keys: toVisitKeys(hit),
    stepTimes: STEP_BITS.map((bit) => (hit.steps & bit ? hit.at : null)),
    convertedAt: null,
    bookings: null,
    failures: null,
  };
  addConversion(part, hit);
  return part;
}

function addHit(part: VisitPart, hit: Hit): void {
  const [first, later] = startsBefore(hit, part.start) ? [hit, part.start] : [part.start, hit];
  addConversion(part, hit);
  part.start = part.bookings ? replaceOther(first, later) : first;
  part.keys = toVisitKeys(part.start);
  STEP_BITS.forEach((bit, i) => {
    const known = part.stepTimes[i] ?? null;
    if (hit.steps & bit && (known === null || hit.at < known)) part.stepTimes[i] = hit.at;
  });
}

/** In the order in which `unite` (record-statement.ts) picks the start of a visit: by instant, then by the numbers of its keys. */
export function startsBefore(a: Hit, b: Hit): boolean {
  if (a.at.getTime() !== b.at.getTime()) return a.at < b.at;
  const [keys, others] = [toVisitKeys(a), toVisitKeys(b)];
  const different = KEY_KINDS.find((kind) => keys[kind].id !== others[kind].id);
  return different !== undefined && keys[different].id < others[different].id;
}

function addConversion(part: VisitPart, { at, conversion }: Hit): void {
  if (!conversion) return;
  const map = conversion.step === "booking_completed" ? "bookings" : "failures";
  const leadMs = conversion.startAt && Math.max(0, conversion.startAt.getTime() - at.getTime());
  const service = conversion.service?.slice(0, SERVICE_LENGTH_MAX).toWellFormed();
  const times: ConversionTimes = service ? [at.getTime(), leadMs, service] : [at.getTime(), leadMs];
  const known = part[map]?.[conversion.key];
  if (!known || isEarlier(times, known)) part[map] = { ...part[map], [conversion.key]: times };
  if (part.convertedAt === null || at > part.convertedAt) part.convertedAt = at;
}

/** By instant, then by lead time, then by service in byte order, with known before unknown. */
function isEarlier([at, lead, service]: ConversionTimes, [otherAt, otherLead, otherService]: ConversionTimes): boolean {
  if (at !== otherAt) return at < otherAt;
  if (lead !== otherLead) return (lead ?? Number.POSITIVE_INFINITY) < (otherLead ?? Number.POSITIVE_INFINITY);
  if (service === undefined || otherService === undefined) return service !== undefined;
  return Buffer.compare(Buffer.from(service), Buffer.from(otherService)) < 0;
}
