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
export function hasManyVisitors(): boolean {
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
