import type { Deps } from "./deps.ts";
import { repeat } from "./lib/repeat.ts";
import { sweepExpired } from "./retention/sweep.ts";

const HOUR_MS = 60 * 60 * 1000;

type Task = {
  readonly name: string;
  readonly periodMs: number;
  readonly run: (deps: Deps, signal: AbortSignal) => Promise<unknown>;
};

/** The table of contents of background work. Any number of workers may run each task at once. */
const TASKS: readonly Task[] = [{ name: "retention", periodMs: HOUR_MS, run: sweepExpired }];

/** Starts every task; `stop` lets the runs under way end at their next safe point and waits for them. */
export function startWorker(deps: Deps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loops = TASKS.map((task) =>
    repeat({ periodMs: task.periodMs, signal: stopping.signal }, () => runTask(deps, task, stopping.signal)),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

/** A failing run is logged and counted, and tried again a period later: one bad night must not end the task. */
async function runTask(deps: Deps, task: Task, signal: AbortSignal): Promise<void> {
  const startedAt = deps.clock.now();
  try {
    await task.run(deps, signal);
    deps.metrics.taskRuns.inc({ task: task.name, outcome: "succeeded" });
    deps.log.debug("task.finished", { task: task.name, durationMs: deps.clock.now().getTime() - startedAt.getTime() });
  } catch (error) {
    deps.metrics.taskRuns.inc({ task: task.name, outcome: "failed" });
    deps.log.error("task.failed", { task: task.name, error });
  }
}
