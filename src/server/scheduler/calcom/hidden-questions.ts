import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { AccountLimits } from "../account-limits.ts";
import type { CalcomParts } from "../connections/connection-settings.ts";
import type { RequestBudget } from "../request-budget.ts";
import type { CalcomApi } from "./api.ts";
import { type EventType, shapes } from "./shapes.ts";

// Cal.com lists event types without their hidden questions, but rejects every booking that lacks an answer to a required one. Only
// an event type that is read by itself shows them. That takes a request each, so the answers are kept.

export type HiddenQuestions = {
  /** The hidden required question of each event type that has one. An event type that can't be read yet counts as having none. */
  find(eventTypeIds: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, string>>;
  /** Has the event type, or every one, read again the next time. */
  forget(eventTypeId?: number): void;
};

const KEPT_MS = HOUR_MS;
const RETRY_MS = 5 * MINUTE_MS;
/** Visitors wait for it. What is left is read when the event types are listed again, a minute later. */
const TIMEOUT_MS = 4 * SECOND_MS;
const READS_MAX = 60;
const CONCURRENCY = 6;

/** By event type. */
export type KnownQuestions = Map<number, { question: string | null; untilMs: number }>;

type QuestionDeps = { api: CalcomApi; clock: Clock; accountLimits: AccountLimits; budget: RequestBudget };

export function createHiddenQuestions(deps: QuestionDeps, parts: CalcomParts): HiddenQuestions {
  const { api, clock, budget } = deps;
  const known = deps.accountLimits.hiddenQuestionsOf(parts);
  const read = async (id: number, signal: AbortSignal): Promise<void> => {
    const nowMs = clock.now().getTime();
    const path = `/event-types/${id}`;
    const answer = await api.read({ resource: "eventTypes", path }, shapes.eventType, signal);
    if (answer.kind === "unavailable")
      known.set(id, { question: known.get(id)?.question ?? null, untilMs: nowMs + RETRY_MS });
    else
      known.set(id, {
        question: answer.kind === "found" ? findHiddenQuestion(answer.value.data) : null,
        untilMs: nowMs + KEPT_MS,
      });
  };
  return {
    find: async (ids, signal) => {
      for (const id of known.keys()) if (!ids.includes(id)) known.delete(id);
      const now = clock.now();
      const isDue = (id: number) => (known.get(id)?.untilMs ?? 0) <= now.getTime();
      const due = ids.filter(isDue).slice(0, READS_MAX).values();
      const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const readDue = async () => {
        for (const id of due) {
          if (limited.aborted || !budget.allows("first", now)) return;
          await read(id, limited);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, readDue));
      return new Map([...known].flatMap(([id, { question }]) => (question === null ? [] : [[id, question] as const])));
    },
    forget: (id) => {
      if (id === undefined) known.clear();
      else known.delete(id);
    },
  };
}

/** Cal.com's own fields are not required while they are hidden. */
function findHiddenQuestion({ bookingFields }: EventType): string | null {
  const field = bookingFields.find(
    ({ hidden, required, isDefault }) => hidden === true && required === true && isDefault === false,
  );
  return field ? field.label || field.slug || field.type : null;
}
