import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { TICKED } from "#contract/scheduling.ts";
import type { ConfigResponse, FreeSlot } from "#contract/widgets/embed-api.ts";
import { parseConfig } from "../src/server/config.ts";
import { createDeps } from "../src/server/create-deps.ts";
import { openDb, openPool } from "../src/server/db/connections/pool.ts";
import { openEmbeddedDatabase } from "../src/server/db/embedded/open.ts";
import { createLog } from "../src/server/lib/log/log.ts";
import { addConnection } from "../src/server/scheduler/connections/connections.ts";
import { noAudit } from "../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget } from "../test/support/builders.ts";
import { type CalcomServer, startCalcomServer } from "../test/support/scheduler/calcom/calcom-server.ts";
import { CalcomThrottle } from "../test/support/scheduler/calcom/calcom-throttle.ts";
import { type Bar, printTable } from "./support/bars.ts";
import { type Service, startService } from "./support/service.ts";

// Twenty visitors a second look at available times of one Cal.com with its real limit (120 requests a minute, then a minute without
// answers), and every two seconds one of them books. Nobody may be told that the scheduling system is unavailable, and every
// booking is made. They come a minute after the connection was added, because that takes a third of a minute's requests, but to a
// service that has read nothing yet. `--seconds N` shortens the five minutes.

const SECONDS = 300;
const VISITORS_PER_SECOND = 20;
const SECONDS_PER_BOOKING = 2;
const ATTEMPTS_MAX = 5;
const SETTINGS = {
  SECRET_KEY: "bench-bench-bench-bench-bench-bench",
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
  TRUST_PROXY: "1",
};

const PHONE = "+49 30 5550100";
const ANSWERS: Readonly<Record<string, string>> = { phone: PHONE, tick: TICKED };

type Tally = { statuses: Map<string, number>; booked: number; wanted: number; durationsMs: number[] };

export async function run({ seconds = SECONDS }: { seconds?: number | null }): Promise<Bar[]> {
  const service = await startService(SETTINGS);
  const calcom = await startCalcomServer();
  calcom.throttle = { limit: new CalcomThrottle(), nowMs: () => Date.now() };
  try {
    const widget = await connectWidget(service, calcom);
    await sleep(MINUTE_MS);
    const tally: Tally = { statuses: new Map(), booked: 0, wanted: 0, durationsMs: [] };
    await sendVisitors({ base: `http://127.0.0.1:${service.port}/embed-api/${widget}`, tally }, seconds ?? SECONDS);
    return report(tally, calcom);
  } finally {
    await service.stop();
    await calcom.stop();
  }
}

async function connectWidget(service: Service, calcom: CalcomServer): Promise<string> {
  const log = createLog("silent");
  const embedded = await openEmbeddedDatabase({ dataDir: service.dataDir, notice: () => undefined });
  const pool = openPool({ url: embedded.url, size: 2, log });
  const database = { db: openDb(pool), pool };
  const settings = { ...SETTINGS, DATABASE_URL: embedded.url, DATA_DIR: join(service.dataDir, "bench") };
  const deps = await createDeps({ config: parseConfig(settings), database, log });
  try {
    const owner = await makeOrganization(deps.db, { timeZone: "Europe/Berlin" });
    const added = await addConnection(deps, owner, { kind: "calcom", name: "Cal.com", ...calcom.parts }, noAudit);
    if (added.kind !== "added") throw new Error(`The connection was refused: ${JSON.stringify(added)}`);
    const widget = await makeWidget(deps.db, owner);
    await deps.db.updateTable("widgets").set({ connection_id: added.id }).where("id", "=", widget).execute();
    return widget;
  } finally {
    await Promise.all([deps.scheduler.outbound.close(), deps.webhooks.send.close()]);
    await pool.end();
    await embedded.release();
  }
}

type Site = { readonly base: string; readonly tally: Tally };

async function sendVisitors(site: Site, seconds: number): Promise<void> {
  const visits: Promise<void>[] = [];
  for (let n = 0; n < seconds * VISITORS_PER_SECOND; n++) {
    visits.push(visit(site, n));
    await sleep(1_000 / VISITORS_PER_SECOND);
  }
  await Promise.all(visits);
}

/** Opens the widget and looks at a service for a month; every third visitor looks at the next month, too. */
async function visit(site: Site, n: number): Promise<void> {
  const network = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  const config = await ask<ConfigResponse>(site, { path: "/config", network });
  const services = config?.services ?? [];
  const service = services[n % services.length];
  if (service === undefined) return;
  const now = Date.now();
  const monthEnd = (Math.floor(now / DAY_MS) + 31) * DAY_MS;
  const path = (from: number, to: number) =>
    `/slots?service=${service.id}&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
  const times = await ask<{ slots: FreeSlot[] }>(site, { path: path(now, monthEnd), network });
  if (n % 3 === 0) await ask(site, { path: path(monthEnd, monthEnd + 31 * DAY_MS), network });
  if (n % (SECONDS_PER_BOOKING * VISITORS_PER_SECOND) === 0) await book(site, { service, times, network });
}

/** Like a visitor: if the time was taken since, another one of those that are offered instead. */
async function book(
  site: Site,
  wanted: { service: ConfigResponse["services"][number]; times: { slots: FreeSlot[] } | null; network: string },
): Promise<void> {
  site.tally.wanted++;
  let slots = wanted.times?.slots ?? [];
  for (let attempt = 0; attempt < ATTEMPTS_MAX && slots.length > 0; attempt++) {
    const slot = slots[Math.floor(Math.random() * slots.length)];
    const body = {
      visitId: randomUUID(),
      serviceId: wanted.service.id,
      start: slot?.start,
      timeZone: "Europe/Berlin",
      customer: { name: "Mara Quell", email: "mara.quell@example.com", phone: PHONE, notes: null },
      answers: wanted.service.questions
        .filter(({ required }) => required)
        .map(({ id, type, options }) => ({ questionId: id, answer: options?.[0] ?? ANSWERS[type] ?? "1" })),
    };
    const response = await ask<{ reference?: string; slots?: FreeSlot[] }>(site, {
      path: "/bookings",
      network: wanted.network,
      body,
    });
    if (response?.reference !== undefined) {
      site.tally.booked++;
      return;
    }
    slots = response?.slots ?? [];
  }
}

async function ask<T>(
  { base, tally }: Site,
  { path, network, body }: { path: string; network: string; body?: object },
): Promise<T | null> {
  const startedMs = performance.now();
  const response = await fetch(base + path, {
    headers: {
      "x-forwarded-for": network,
      ...(body && { "content-type": "application/json", "idempotency-key": randomUUID() }),
    },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  const json = (await response.json()) as { error?: { code: string } };
  tally.durationsMs.push(performance.now() - startedMs);
  const what = [path.split("?")[0], response.status, json.error?.code].join(" ").trim();
  tally.statuses.set(what, (tally.statuses.get(what) ?? 0) + 1);
  return response.ok || response.status === 409 ? (json as T) : null;
}

function report({ statuses, booked, wanted, durationsMs }: Tally, calcom: CalcomServer): Bar[] {
  durationsMs.sort((a, b) => a - b);
  printTable([...statuses].sort().map(([what, count]) => ({ what, count })));
  const reads = calcom.requests.filter(({ path }) => path === "/v2/slots").length;
  const refused = [...statuses].filter(([what]) => !/ (200|201|409)/.test(what));
  const refusedCount = refused.reduce((sum, [, count]) => sum + count, 0);
  const slowMs = durationsMs[Math.floor(durationsMs.length * 0.99)] ?? 0;
  console.log(
    `Cal.com got ${calcom.requests.length} requests, ${reads} for available times. p99 ${slowMs.toFixed(0)} ms.`,
  );
  return [
    { what: "visitors refused", measured: String(refusedCount), bar: "0", isReached: refusedCount === 0 },
    { what: "bookings made", measured: `${booked} of ${wanted}`, bar: "all", isReached: booked === wanted },
  ];
}
