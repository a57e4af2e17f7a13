/** Counting this many visits takes a few seconds. */
export const PROGRESS_VISITS = 20_000;
/** Importing this many lines takes a few seconds. */
export const PROGRESS_LINES = 10_000;

/** Counts grow in steps and may skip a round number, so the first count at or after it is reported. */
export function reportEvery(step: number, tell: (count: number) => void): (count: number) => void {
  let next = step;
  return (count) => {
    if (count < next) return;
    tell(count);
    next = count - (count % step) + step;
  };
}
