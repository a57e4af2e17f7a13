import { HOUR_MS } from "#contract/durations.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SERVICES_MAX } from "../reply-limits.ts";
import type { RequestBudget } from "../request-budget.ts";
import type { CalcomApi } from "./api.ts";
import { type BookingField, shapes } from "./shapes.ts";

// Cal.com demands an answer to a required question even if it is hidden, and its lists leave hidden questions out. So every event type
// is also read by itself: once an hour, each time if it has such a question, and after Cal.com refused a booking of it.

const KEPT_MS = HOUR_MS;
const READS_AT_ONCE = 10;

type HiddenQuestions = {
  /** Reads the event types that are due, while the account has requests to spare. */
  check(eventTypeIds: readonly number[], signal: AbortSignal): Promise<void>;
  read(eventTypeId: number, signal: AbortSignal): Promise<void>;
  /** The label of a hidden question that demands an answer, if one is known. */
  find(eventTypeId: number): string | null;
};

export function createHiddenQuestions(
  { clock, budget }: { clock: Clock; budget: RequestBudget },
  api: CalcomApi,
): HiddenQuestions {
  const known = new RecentMap<number, { question: string | null; readAtMs: number }>(SERVICES_MAX);

  const read = async (id: number, signal: AbortSignal): Promise<void> => {
    const reply = await api.read(
      { resource: "eventTypes", path: `/event-types/${id}` },
      shapes.eventTypeFields,
      signal,
    );
    if (reply.kind === "unavailable") return;
    const field = reply.kind === "found" ? reply.value.data.bookingFields.find(isHiddenRequired) : undefined;
    known.set(id, { question: field ? field.label || field.slug || "" : null, readAtMs: clock.now().getTime() });
  };
  const isDue = (id: number): boolean => {
    const last = known.get(id);
    return last === undefined || last.question !== null || clock.now().getTime() - last.readAtMs >= KEPT_MS;
  };
  return {
    check: async (eventTypeIds, signal) => {
      const due = eventTypeIds.filter(isDue);
      while (due.length > 0 && !signal.aborted && budget.allows("renewal", clock.now()))
        await Promise.all(due.splice(0, READS_AT_ONCE).map((id) => read(id, signal)));
    },
    read,
    find: (id) => known.get(id)?.question ?? null,
  };
}

/** Its own page gets the answer from a link. Cal.com's own fields are not required while hidden. */
function isHiddenRequired(field: BookingField): boolean {
  return field.hidden === true && field.required === true && field.isDefault === false;
}
