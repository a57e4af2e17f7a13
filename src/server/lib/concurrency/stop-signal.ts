import { setTimeout as sleep } from "node:timers/promises";
import type { Log, StopReason } from "../log/log.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How long closing the database may take once the grace time is over. */
const LETTING_GO_MS = 15_000;
const PARENT_POLL_MS = 500;

type StopSteps = {
  /** Stops accepting work and finishes what is in progress; cut off after the grace period. */
  finish(): Promise<unknown>;
  /** Closes what everything else depends on. */
  letGo(): Promise<unknown>;
};

/** First signal: graceful; second: immediate. Nothing acknowledged is lost either way. */
export function onStopSignal(options: { graceMs: number; log: Log }, steps: StopSteps): void {
  let isStopping = false;
  const stop = async (signal: StopReason): Promise<void> => {
    if (isStopping) process.exit(1);
    isStopping = true;
    options.log.info("service.stopping", { signal });
    await waitAtMost(options.graceMs, steps.finish());
    await waitAtMost(LETTING_GO_MS, steps.letGo());
    options.log.info("service.stopped");
    process.exit(0);
  };
  const begin = (signal: StopReason) => {
    stop(signal).catch((error: unknown) => {
      options.log.error("service.stop_failed", { error });
      process.exit(1);
    });
  };
  for (const signal of SIGNALS) process.on(signal, () => begin(signal));
  if (process.env["npm_lifecycle_event"]) {
    whenParentEnds(() => {
      options.log.debug("service.parent_ended");
      // A signal to the whole group also ends the shell. That is the same request to stop, not a second one.
      if (!isStopping) begin("parent ended");
    });
  }
}

/** A signal to npm ends its shell but not this process, which would keep running unseen and hold its port. */
function whenParentEnds(then: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    then();
  }, PARENT_POLL_MS);
  timer.unref();
}

async function waitAtMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, sleep(limitMs)]);
}
