import { HOUR_MS } from "#contract/durations.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { OFFERED, SERVICES_MAX } from "../reply-limits.ts";
import type { RequestBudget } from "../request-budget.ts";
import type { CalcomApi } from "./api.ts";
import { type BookingField, shapes } from "./shapes.ts";

// Cal.com demands an answer to a required question even if it is hidden, and its lists leave hidden questions out. So event types are
// also read by themselves: all by "Test" and after a start, then once an hour, and one whenever Cal.com refuses a booking of it.

const KEPT_MS = HOUR_MS;
const READS_AT_ONCE = 5;
/** Visitors wait for a list. What is not read within this time is read with the next one. */
const DUE_WITHIN_MS = 3_000;

/** What is known of an account's event types: the name of a hidden question that demands an answer, or null. */
export class HiddenQuestions {
  readonly #known = new RecentMap<number, { readonly question: string | null; readonly readAtMs: number }>(
    SERVICES_MAX,
  );

  note(eventTypeId: number, question: string | null, readAt: Date): void {
    this.#known.set(eventTypeId, { question, readAtMs: readAt.getTime() });
  }

  find(eventTypeId: number): string | null {
    return this.#known.get(eventTypeId)?.question ?? null;
  }

  /** Those to read again, the longest unread first. One with such a question is always due, because it may be visible now. */
  listDue(eventTypeIds: readonly number[], now: Date): number[] {
    const toReadAtMs = (id: number) => this.#known.get(id)?.readAtMs ?? 0;
    const isDue = (id: number) => this.find(id) !== null || Math.abs(now.getTime() - toReadAtMs(id)) >= KEPT_MS;
    return eventTypeIds.filter(isDue).toSorted((a, b) => toReadAtMs(a) - toReadAtMs(b));
  }
}

type ReadDeps = { clock: Clock; budget: RequestBudget; api: CalcomApi; hidden: HiddenQuestions };

export async function readHidden({ clock, api, hidden }: ReadDeps, id: number, signal: AbortSignal): Promise<void> {
  const reply = await api.read({ resource: "eventTypes", path: `/event-types/${id}` }, shapes.eventTypeFields, signal);
  if (reply.kind === "unavailable") return;
  const field = reply.kind === "found" ? reply.value.data.bookingFields.find(isHiddenRequired) : undefined;
  hidden.note(id, field ? toName(field) : null, clock.now());
}

/** Reads as many as the account's requests allow without what is kept for bookings. */
export async function readAllHidden(deps: ReadDeps, ids: readonly number[], signal: AbortSignal): Promise<void> {
  await readWhile(deps, { ids, may: "first" }, signal);
}

/** Reads those that are due, while the account has requests to spare. */
export async function readDueHidden(deps: ReadDeps, ids: readonly number[], signal: AbortSignal): Promise<void> {
  const due = deps.hidden.listDue(ids, deps.clock.now());
  await readWhile(deps, { ids: due, may: "renewal" }, AbortSignal.any([signal, AbortSignal.timeout(DUE_WITHIN_MS)]));
}

async function readWhile(
  deps: ReadDeps,
  { ids, may }: { ids: readonly number[]; may: Parameters<RequestBudget["allows"]>[0] },
  signal: AbortSignal,
): Promise<void> {
  const mayRead = () => !signal.aborted && deps.budget.allows(may);
  for (let at = 0; at < ids.length && mayRead(); at += READS_AT_ONCE)
    await Promise.all(ids.slice(at, at + READS_AT_ONCE).map((id) => readHidden(deps, id, signal)));
}

/** Its own page gets the answer from a link. Cal.com's own fields are not required while hidden. */
function isHiddenRequired(field: BookingField): boolean {
  return field.hidden === true && field.required === true && field.isDefault === false;
}

/** A name of any length would stay in memory. */
function toName({ label, slug }: BookingField): string {
  return [label, slug].find((text) => text && text.length <= OFFERED.nameLength) ?? "without a name";
}
