import { join } from "node:path";
import { openLongRunningDb, openPool } from "../src/server/db/connections/pool.ts";
import { openEmbeddedDatabase } from "../src/server/db/embedded/open.ts";
import { createLog } from "../src/server/lib/log/log.ts";
import { makeKey, makeOrganization, makeWidget } from "../test/support/builders.ts";
import { type Bar, judgeMemory, printTable, round } from "./support/bars.ts";
import { startServer } from "./support/child.ts";
import { type LoadResult, runLoad, toRequest } from "./support/load.ts";
import { readResidentMb } from "./support/process-usage.ts";
import { type Service, startService } from "./support/service.ts";
import { TYPICAL_API_JSON } from "./support/typical-json.ts";

// The read API over 1,000,000 bookings in 50 organizations, through the real service. The baseline is a bare Fastify route that
// serialises the same page from memory, in the same run.

const ORGANIZATIONS = 50;
const BOOKINGS_EACH = 20_000;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 5_000;

const PAGE_P99_BAR_MS = 15;
const LAST_PAGE_BAR = 1.3;
const SMALL_PAGES_BAR = 0.3;
const PAGE_P50_BAR = 4;
/** Each measurement alternates with the bare route and is repeated, because a single one varies by a fifth. */
const REPETITIONS = 3;
const START_BAR_MS = 3_000;

/** One request at a time measures latency, several at once throughput. */
const FEW_CONNECTIONS = 4;
const MANY_CONNECTIONS = 32;

type Row = Record<string, string>;
type Tenant = { key: string; lastCursor: string };

export async function run(): Promise<Bar[]> {
  const service = await startService();
  const bare = await startServer({
    file: join(import.meta.dirname, "support/bare-bookings-route.ts"),
    readyPath: "/readyz",
  });
  try {
    const tenants = await loadBookings(service);
    const ask = (path: (tenant: Tenant) => string) =>
      tenants.map((tenant) =>
        toRequest({ method: "GET", path: path(tenant), headers: { authorization: `Bearer ${tenant.key}` } }),
      );
    const bareRequests = (limit: number) => [toRequest({ method: "GET", path: `/bookings?limit=${limit}` })];
    const firstPage = ask(() => "/api/v1/bookings?limit=100");
    const lastPage = ask(({ lastCursor }) => `/api/v1/bookings?limit=100&cursor=${lastCursor}`);
    const smallPage = ask(() => "/api/v1/bookings?limit=5");

    const measureSeveral = (what: string, options: Omit<SeriesPlan, "port"> & { port?: number }) =>
      new Series(what, { port: service.port, ...options });
    const one = { connections: 1 };
    const few = { connections: FEW_CONNECTIONS };
    const many = { connections: MANY_CONNECTIONS };
    const toBare = { port: bare.port };
    const series = {
      bareLarge: measureSeveral("bare route, 100 rows, 1 connection", {
        ...one,
        ...toBare,
        requests: bareRequests(100),
      }),
      first: measureSeveral("first page of 100, 1 connection", { ...one, requests: firstPage }),
      last: measureSeveral("last page of 100, 1 connection", { ...one, requests: lastPage }),
      firstOfFew: measureSeveral(`first page of 100, ${FEW_CONNECTIONS} connections`, {
        ...few,
        requests: firstPage,
      }),
      bareSmall: measureSeveral(`bare route, 5 rows, ${MANY_CONNECTIONS} connections`, {
        ...many,
        ...toBare,
        requests: bareRequests(5),
      }),
      small: measureSeveral(`pages of 5, ${MANY_CONNECTIONS} connections`, { ...many, requests: smallPage }),
    };
    for (let n = 0; n < REPETITIONS; n++) for (const each of Object.values(series)) await each.repeat();
    printTable(Object.values(series).map((each) => each.toRow()));
    const residentMb = readResidentMb(service.pid) ?? 0;
    const startMs = await measureStart(service);
    return [...judgePages(series), judgeStart(startMs), judgeMemory(residentMb)];
  } finally {
    await bare.stop();
    await service.stop();
  }
}

type SeriesPlan = { readonly requests: string[]; readonly connections: number; readonly port: number };

/** One measurement, repeated. */
class Series {
  readonly #what: string;
  readonly #plan: SeriesPlan;
  readonly #results: LoadResult[] = [];

  constructor(what: string, plan: SeriesPlan) {
    this.#what = what;
    this.#plan = plan;
  }

  async repeat(): Promise<void> {
    const result = await runLoad({ ...this.#plan, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS }, () => undefined);
    if (Object.keys(result.statuses).join() !== "200")
      throw new Error(`The responses were ${JSON.stringify(result.statuses)}`);
    this.#results.push(result);
    this.#results.sort((one, other) => one.rate - other.rate);
  }

  /** The median repetition, by rate. */
  get middle(): LoadResult {
    const middle = this.#results[Math.floor(this.#results.length / 2)];
    if (!middle) throw new Error(`${this.#what} was not measured`);
    return middle;
  }

  toRow(): Row {
    return {
      what: this.#what,
      "per second": round(this.middle.rate),
      spread: `${round(this.#results[0]?.rate ?? 0)} to ${round(this.#results.at(-1)?.rate ?? 0)}`,
      "p50 ms": round(this.middle.p50Ms),
      "p99 ms": round(this.middle.p99Ms),
    };
  }
}

function judgePages(series: Record<"bareLarge" | "first" | "last" | "bareSmall" | "small", Series>): Bar[] {
  const { bareLarge, first, last, bareSmall, small } = series;
  const worstMs = Math.max(first.middle.p99Ms, last.middle.p99Ms);
  const growth = last.middle.p50Ms / first.middle.p50Ms;
  const besideBare = first.middle.p50Ms / bareLarge.middle.p50Ms;
  const smallBesideBare = small.middle.rate / bareSmall.middle.rate;
  return [
    {
      what: "page of 100, first or last, p99",
      measured: `${round(worstMs)} ms`,
      bar: `≤ ${PAGE_P99_BAR_MS} ms`,
      isReached: worstMs <= PAGE_P99_BAR_MS,
    },
    {
      what: "last page against the first, p50",
      measured: `${growth.toFixed(2)} ×`,
      bar: `≤ ${LAST_PAGE_BAR} ×`,
      isReached: growth <= LAST_PAGE_BAR,
    },
    {
      what: "page of 100 against the bare route, p50",
      measured: `${besideBare.toFixed(2)} ×`,
      bar: `≤ ${PAGE_P50_BAR} ×`,
      isReached: besideBare <= PAGE_P50_BAR,
    },
    {
      what: "pages of 5 against the bare route",
      measured: `${smallBesideBare.toFixed(2)} × (${round(small.middle.rate)} a second)`,
      bar: `≥ ${SMALL_PAGES_BAR.toFixed(2)} ×`,
      isReached: smallBesideBare >= SMALL_PAGES_BAR,
    },
  ];
}

function judgeStart(startMs: number): Bar {
  return {
    what: "start on this data folder until ready",
    measured: `${Math.round(startMs)} ms`,
    bar: `≤ ${START_BAR_MS.toLocaleString("en")} ms`,
    isReached: startMs <= START_BAR_MS,
  };
}

/** A second service process on the same folder is not a cold start, so the first one is stopped for this. */
async function measureStart(service: Service): Promise<number> {
  await service.pause();
  const startedAt = performance.now();
  const again = await startServer({
    file: join(import.meta.dirname, "../src/server/main.ts"),
    readyPath: "/readyz",
    environment: { DATABASE_URL: "", DATA_DIR: service.dataDir },
  });
  const elapsedMs = performance.now() - startedAt;
  await again.stop();
  return elapsedMs;
}

async function loadBookings(service: Service): Promise<Tenant[]> {
  const database = await openEmbeddedDatabase({ dataDir: service.dataDir, notice: () => undefined });
  const pool = openPool({ url: database.url, size: 2, log: createLog("silent") });
  const db = openLongRunningDb(pool);
  try {
    const tenants: Tenant[] = [];
    // Reads don't use this index, and filling it takes longer than the rest of this bench.
    await pool.query("drop index bookings_search");
    for (let n = 0; n < ORGANIZATIONS; n++) {
      const id = await makeOrganization(db);
      const widget = await makeWidget(db, id);
      const { key } = await makeKey(db, id);
      const values = [id, widget, n * BOOKINGS_EACH, BOOKINGS_EACH, TYPICAL_API_JSON];
      const { rows } = await pool.query<{ cursor: Date }>(INSERT_BOOKINGS, values);
      tenants.push({ key, lastCursor: rows[0]?.cursor.toISOString() ?? "" });
    }
    await pool.query("vacuum analyze bookings");
    return tenants;
  } finally {
    await pool.end();
    await database.release();
  }
}

/** References count up in the 32-letter alphabet. The page behind the returned cursor is the last one of 100. */
const INSERT_BOOKINGS = `
  with made as (
    insert into bookings (organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone, service_id,
      service_name, staff, customer_name, customer_email, customer_phone, customer_notes, answers, attribution, external_id,
      manage_url, join_url, api_json)
    select $1, 'SVC-' || (
        select string_agg(substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', 1 + ((($3::bigint + n) >> (5 * digit)) & 31)::integer, 1), '')
        from generate_series(5, 0, -1) digit
      ), $2, 'confirmed', date_trunc('milliseconds', current_timestamp) - n * interval '31 minutes',
      current_timestamp + interval '3 days', current_timestamp + interval '3 days 30 minutes', 'Europe/Berlin', 'service-1',
      'Check-up', '[{"id": "staff-1", "name": "Dr. Ada Winter"}]', 'Mara Quell ' || n, 'mara.' || n || '@example.com',
      '+49 30 901820', null, '[{"questionId": "q1", "question": "Is this your first visit?", "answer": "Yes"}]',
      '{"source": "google", "medium": "cpc", "campaign": "autumn", "channel": "Paid Search", "touches": 2,
        "utmSource": "google", "utmMedium": "cpc", "utmCampaign": "autumn", "landingPage": "https://lindenhof.example/lp"}',
      'ext-' || n, 'https://scheduler.example.com/manage/' || n, null, $5
    from generate_series(1, $4::integer) n
    returning created_at
  )
  select created_at as cursor from made order by created_at offset 100 limit 1`;
