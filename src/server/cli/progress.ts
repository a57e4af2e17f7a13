/** A few seconds' worth of counting visits. */
export const PROGRESS_VISITS = 20_000;
/** A few seconds' worth of importing. */
export const PROGRESS_LINES = 10_000;

/** Counts come in steps, so a round number may be jumped over; the first count at or after it is told. */
export function everySoOften(step: number, tell: (count: number) => void): (count: number) => void {
  let next = step;
  return (count) => {
    if (count < next) return;
    tell(count);
    next = count - (count % step) + step;
  };
}
