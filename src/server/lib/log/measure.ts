import { within } from "../concurrency/pause.ts";
import type { Log } from "./log.ts";

/** Monitoring must not hang when the database does. */
const MEASURE_LIMIT_MS = 2_000;

/** Returns the measurement, or null with a log line of this name if it fails or takes too long. */
export async function measureInTime<Measure>(
  deps: { log: Log },
  { failed, measuring }: { failed: string; measuring: Promise<Measure> },
): Promise<Measure | null> {
  try {
    return await within(MEASURE_LIMIT_MS, measuring);
  } catch (error) {
    deps.log.warn(failed, { error });
    return null;
  }
}
