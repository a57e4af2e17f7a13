import type { Fault } from "./faults.ts";
import type { TimedAnswer } from "./load.ts";

// A visitor always gets an answer within seconds, even if it is only a 503. Time that the fault itself takes, such as a
// suspended process, and the machine's own load don't count.

/** The database counts as silent after 3 s; the rest is for a busy machine. */
const LIMIT_MS = 6_000;

export function findSlowest(answers: readonly TimedAnswer[]): TimedAnswer | null {
  return answers.toSorted((a, b) => b.tookMs - a.tookMs)[0] ?? null;
}

/** One sentence for each answer that took too long. */
export function judgeAnswers(answers: readonly TimedAnswer[], fault: Pick<Fault, "excuseMs">): string[] {
  return answers
    .filter((answer) => answer.tookMs - answer.lagMs > LIMIT_MS + (fault.excuseMs?.(answer) ?? 0))
    .map((answer) => `too slow: ${describeAnswer(answer)}`);
}

export function describeAnswer({ route, isExternal, status, tookMs, lagMs }: TimedAnswer): string {
  const answer = status === 0 ? "no answer" : String(status);
  return `${route}${isExternal ? " (external)" : ""} ${answer} after ${(tookMs / 1000).toFixed(1)} s (machine late by ${(lagMs / 1000).toFixed(1)} s)`;
}
