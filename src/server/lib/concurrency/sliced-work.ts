import { setImmediate } from "node:timers/promises";
import { pause } from "./pause.ts";

const SLICE_MS = 1;
/** Work that is done by then only lets others in between its slices. */
const SHORT_MS = 15;
/** While others have work, they get this many times as long as each slice of longer work took. */
const OTHERS_TIMES = 8;
/** Visitors get this many times as long: a report over two years may then take two seconds. */
const VISITORS_TIMES = 20;
/** A slice that took longer was held up by others. */
const SLICE_MAX_MS = 2 * SLICE_MS;
/** A turn of the event loop that serves nobody is shorter. */
const IDLE_TURN_MS = 0.05;
/** A single short turn also happens under load. */
const IDLE_TURNS = 2;

/**
 * Splits long work into slices. Between two of them, everything else that waits has its turns. Less would not do: with one turn
 * between slices, half as many events are recorded beside a report and other requests take twice as long; with pauses of a fixed
 * length, a report takes twice as long on an idle process.
 */
export class SlicedWork {
  #workedMs = 0;
  #sliceMs = 0;

  /** Does a small piece of the work. */
  async spend<Result>(work: () => Result): Promise<Result> {
    const startedAt = performance.now();
    const result = work();
    this.#sliceMs += performance.now() - startedAt;
    if (this.#sliceMs < SLICE_MS) return result;
    const sliceMs = Math.min(this.#sliceMs, SLICE_MAX_MS);
    this.#sliceMs = 0;
    this.#workedMs += sliceMs;
    await (this.#workedMs < SHORT_MS ? setImmediate() : giveWay(sliceMs));
    return result;
  }
}

/**
 * Until others have had this long, or have nothing to do. Visitors get all of it: while their events are being written, this
 * process may look idle, but PostgreSQL needs the processor.
 */
async function giveWay(sliceMs: number): Promise<void> {
  if (hasManyVisitors()) return await pause(sliceMs * VISITORS_TIMES);
  const mostMs = sliceMs * OTHERS_TIMES;
  const startedAt = performance.now();
  let [turnAt, idleTurns] = [startedAt, 0];
  while (idleTurns < IDLE_TURNS && turnAt - startedAt < mostMs) {
    await setImmediate();
    const now = performance.now();
    idleTurns = now - turnAt < IDLE_TURN_MS ? idleTurns + 1 : 0;
    turnAt = now;
  }
}

// How many events this process takes in, so that long work can give way to visitors.

const WINDOW_MS = 100;
/** Recording these takes more than a tenth of a processor. */
const MANY_EVENTS = 50;

let windowStart = Number.NEGATIVE_INFINITY;
let events = 0;
let eventsBefore = 0;

export function noteEvents(count: number): void {
  moveWindow();
  events += count;
}

/** Whether there were many events in the last window, or already are in this one. */
function hasManyVisitors(): boolean {
  moveWindow();
  return Math.max(events, eventsBefore) >= MANY_EVENTS;
}

function moveWindow(): void {
  const now = performance.now();
  if (now - windowStart < WINDOW_MS) return;
  eventsBefore = now - windowStart < 2 * WINDOW_MS ? events : 0;
  events = 0;
  windowStart = now;
}
