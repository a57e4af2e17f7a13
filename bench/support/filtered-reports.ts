import { type Bar, printTable, round } from "./bars.ts";
import { makeEventRequests } from "./event-requests.ts";
import type { History } from "./funnel-history.ts";
import { runLoad } from "./load.ts";
import type { Service } from "./service.ts";

// The dashboard's whole report with filters, comparison included, over HTTP as the analytics screen asks for it.

/**
 * With fewer than a hundred runs, the 99th percentile would be the slowest; with 200, it is the second slowest.
 */
const WINDOWS = [
  { days: 30, barMs: 60, runs: 501 },
  { days: 730, barMs: 700, runs: 101 },
] as const;

/** From few visits that match to nearly all; some that match about half, which is the most work. */
export const FILTERS: readonly string[] = [
  "channel=Channel 3",
  "device=mobile",
  "notDevice=tablet",
  "notDevice=mobile",
  "notChannel=Channel 3",
  "notCountry=DE&notCountry=AT&notCountry=CH",
  "country=DE&notDevice=mobile",
  "page=https://www.lindenhof.example/page-7&device=desktop",
  "notService=Check-up",
  "channel=Channel 3&notDevice=tablet&notCountry=DE",
  "notWeekday=sunday",
  "notHour=3&notHour=4&device=mobile",
  "notLeadTime=0",
];

export type Ask = (query: string) => Promise<void>;

const COLLECTING_BAR = 0.8;
const COLLECT_CONNECTIONS = 64;
/** Alone and beside reports in turn, because a single measurement differs by 20%. */
const COLLECT_ROUNDS = 5;

/** A member of the organization, signed in like a person. */
export async function signInToReports(service: Service, { owner }: History): Promise<Ask> {
  const [email, password] = [`${owner}@example.com`, "correct horse battery"];
  await service.command("user", "create", "--org", owner, "--email", email, "--password", password, "--role", "owner");
  const cookie = await signIn(service.port, { email, password });
  return async (query) => {
    const headers = { cookie, "x-organization": owner };
    const address = `http://127.0.0.1:${service.port}/api/app/analytics?${query.replaceAll(" ", "%20")}`;
    const response = await fetch(address, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${query}: ${response.status} ${text}`);
  };
}

/** Returns the cookie. */
export async function signIn(port: number, credentials: { email: string; password: string }): Promise<string> {
  const base = `http://127.0.0.1:${port}`;
  const signedIn = await fetch(`${base}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: base },
    body: JSON.stringify(credentials),
  });
  if (!signedIn.ok) throw new Error(`Signing in: ${signedIn.status} ${await signedIn.text()}`);
  return signedIn.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
}

export async function judgeFilteredReports(ask: Ask): Promise<Bar[]> {
  const bars: Bar[] = [];
  const rows: Record<string, string>[] = [];
  for (const { days, barMs, runs } of WINDOWS) {
    const times = new Map<string, number[]>(FILTERS.map((filter) => [filter, []]));
    for (let n = 0; n < runs; n++)
      for (const filter of FILTERS) {
        const startedAt = performance.now();
        await ask(`${filter}&days=${days}`);
        // The first round fills PostgreSQL's memory.
        if (n > 0) times.get(filter)?.push(performance.now() - startedAt);
      }
    for (const [filter, each] of times)
      rows.push({
        days: String(days),
        filter,
        "p50 ms": round(toQuantile(each, 0.5)),
        "p99 ms": round(toQuantile(each, 0.99)),
      });
    const p99 = Math.max(...[...times.values()].map((each) => toQuantile(each, 0.99)));
    bars.push({
      what: `${days} days, any filter, p99 of the slowest`,
      measured: `${round(p99)} ms`,
      bar: `≤ ${barMs} ms`,
      isReached: p99 <= barMs,
    });
  }
  printTable(rows);
  return bars;
}

export function toQuantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Events per second while one report over two years runs after the other, against events alone. */
export async function judgeCollecting(service: Service, ask: Ask): Promise<Bar> {
  const requests = await makeEventRequests(service);
  const plan = { port: service.port, connections: COLLECT_CONNECTIONS, requests, warmUpMs: 1_500, measureMs: 5_000 };
  const measure = async () => (await runLoad(plan, () => undefined)).rate;
  await measure();
  const rates: { alone: number[]; beside: number[] } = { alone: [], beside: [] };
  for (let n = 0; n < COLLECT_ROUNDS; n++) {
    rates.alone.push(await measure());
    const asking = { isOver: false };
    const asked = (async () => {
      while (!asking.isOver) await ask("device=mobile&days=730");
    })();
    rates.beside.push(await measure());
    asking.isOver = true;
    await asked;
  }
  for (const [kind, each] of Object.entries(rates))
    console.log(`events per second, ${kind}: ${each.map((rate) => round(rate)).join(", ")}`);
  const ratio = toQuantile(rates.beside, 0.5) / toQuantile(rates.alone, 0.5);
  return {
    what: "events per second beside reports with a filter over 730 days, against alone",
    measured: `${ratio.toFixed(2)} ×`,
    bar: `≥ ${COLLECTING_BAR} ×`,
    isReached: ratio >= COLLECTING_BAR,
  };
}
