import { round } from "./bars.ts";
import { type LoadPlan, type LoadResult, runLoad } from "./load.ts";
import { readCpuMs, readOwnCpuMs, readResidentMb } from "./process-usage.ts";

/** Shares of one processor. */
export type MeasuredLoad = LoadResult & { nodeShare: number; postgresShare: number; residentMb: number };

/** Sends the load and reads meanwhile what it costs the processes of the server. */
export async function measureLoad(
  plan: LoadPlan,
  server: { pid: number; postmasterPid: number | null },
): Promise<MeasuredLoad> {
  const readUsage = () => ({
    at: performance.now(),
    node: readOwnCpuMs(server.pid) ?? 0,
    postgres: server.postmasterPid === null ? 0 : (readCpuMs(server.postmasterPid) ?? 0),
  });
  let start = readUsage();
  let end = start;
  let residentMb = 0;
  const result = await runLoad(plan, (moment) => {
    if (moment === "start") {
      start = readUsage();
      return;
    }
    end = readUsage();
    residentMb = readResidentMb(server.pid) ?? 0;
  });
  const elapsedMs = end.at - start.at;
  return {
    ...result,
    nodeShare: (end.node - start.node) / elapsedMs,
    postgresShare: (end.postgres - start.postgres) / elapsedMs,
    residentMb,
  };
}

/** The repetition in the middle, by rate, and the lowest and highest rate. */
export function pickMiddle<Result extends { rate: number }>(
  repetitions: readonly Result[],
): { middle: Result; spread: string } {
  const byRate = repetitions.toSorted((one, other) => one.rate - other.rate);
  const middle = byRate[Math.floor(byRate.length / 2)];
  if (!middle) throw new Error("Nothing was measured");
  return { middle, spread: `${round(byRate[0]?.rate ?? 0)} to ${round(byRate.at(-1)?.rate ?? 0)}` };
}

export function toLoadCells(measured: MeasuredLoad): Record<string, string> {
  return {
    "per second": round(measured.rate),
    "p50 ms": round(measured.p50Ms),
    "p99 ms": round(measured.p99Ms),
    "node cpu": toCpu(measured.nodeShare, measured.rate),
    "postgres cpu": toCpu(measured.postgresShare, measured.rate),
    "node mb": String(Math.round(measured.residentMb)),
  };
}

function toCpu(share: number, rate: number): string {
  return share === 0 ? "" : `${Math.round(share * 100)}% = ${Math.round((share * 1e6) / rate)} µs each`;
}

/** Stops the bench if any response had another status. */
export function requireStatus({ statuses }: LoadResult, expected: number): void {
  if (Object.keys(statuses).join() !== String(expected))
    throw new Error(`The responses were ${JSON.stringify(statuses)}`);
}
