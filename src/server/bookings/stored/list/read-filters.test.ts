import assert from "node:assert/strict";
import { test } from "node:test";
import { WIDGET_ID, type WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../../test/support/app/app.ts";
import {
  errorResponse,
  fillBookings,
  getAllPages,
  getJson,
  getPage,
  makeCaller,
} from "../../../../../test/support/app/read-api.ts";
import { makeBooking, makeWidget, NOON, updateWidget } from "../../../../../test/support/builders.ts";
import { randomId, systemRandom } from "../../../lib/secrets/random.ts";

const { app, deps, clock } = await createTestApp();

const T0 = "2026-10-20T10:00:00.000Z";
const T1 = "2026-10-20T10:00:00.001Z";
const T2 = "2026-10-20T10:00:00.002Z";
const T3 = "2026-10-20T10:00:00.003Z";

/** Four bookings a millisecond apart, T0 to T3. */
const four = await makeCaller(deps.db);
await fillBookings(deps.db, four, { count: 4, firstAt: new Date(T0) });

const ALL = [T3, T2, T1, T0];

const RANGES: readonly [query: Record<string, string>, createdAts: string[]][] = [
  [{}, ALL],
  // since is inclusive, until is exclusive.
  [{ since: T0 }, ALL],
  [{ since: T1 }, [T3, T2, T1]],
  [{ since: T3 }, [T3]],
  [{ until: T3 }, [T2, T1, T0]],
  [{ until: T1 }, [T0]],
  [{ until: T0 }, []],
  [{ since: T1, until: T3 }, [T2, T1]],
  [{ since: T1, until: T2 }, [T1]],
  // Nothing lies in between.
  [{ since: T2, until: T2 }, []],
  [{ since: T3, until: T0 }, []],
  [{ since: "2026-10-20T10:00:00.004Z" }, []],
  [{ since: "9999-12-31" }, []],
  [{ until: "1970-01-01" }, []],
  [{ until: "1900-01-01" }, []],
  [{ since: "0001-01-01T00:00:00Z" }, ALL],
  [{ since: "0001-01-01T00:00:00+14:00" }, ALL],
  [{ since: "1970-01-01", until: "9999-12-31T23:59:59.999999999Z" }, ALL],
  [{ until: "9999-12-31T23:59:59-23:59" }, ALL],
  [{ since: "1970-01-01T00:00:00+23:59" }, ALL],
  // A date means its first instant in UTC.
  [{ since: "2026-10-20" }, ALL],
  [{ since: "2026-10-21" }, []],
  [{ until: "2026-10-20" }, []],
  [{ until: "2026-10-21" }, ALL],
  // Offsets, or none, which means UTC.
  [{ since: "2026-10-20T12:00:00.002+02:00" }, [T3, T2]],
  [{ since: "2026-10-20T06:30:00.002-03:30" }, [T3, T2]],
  [{ since: "2026-10-20T10:00:00.002" }, [T3, T2]],
  [{ until: "2026-10-20T10:00" }, []],
  [{ since: "2026-10-20t10:00:00.002z" }, [T3, T2]],
  // Below a millisecond, since rounds down and until and cursor round up, so that neither loses the booking it names.
  [{ since: "2026-10-20T10:00:00.001999Z" }, [T3, T2, T1]],
  [{ since: "2026-10-20T10:00:00.000999999Z" }, ALL],
  [{ until: "2026-10-20T10:00:00.001001Z" }, [T1, T0]],
  [{ until: "2026-10-20T10:00:00.001000Z" }, [T0]],
  [{ cursor: "2026-10-20T10:00:00.000000001Z" }, [T0]],
  // The cursor replaces until, later or earlier, and since still applies.
  [{ cursor: T2 }, [T1, T0]],
  [{ cursor: T2, until: T1 }, [T1, T0]],
  [{ cursor: T1, until: T3 }, [T0]],
  [{ cursor: T3, since: T1 }, [T2, T1]],
  [{ cursor: T1, since: T1 }, []],
  [{ cursor: T0, since: T3 }, []],
  [{ cursor: "2026-10-21" }, ALL],
  // Names are exact, and unknown ones are ignored.
  [{ Since: "never", UNTIL: "never", page: "-1", "since[]": "never", "limit[0]": "x", offset: "3", order: "asc" }, ALL],
  [{ __proto__x: "1", constructor: "1", toString: "1", hasOwnProperty: "1" }, ALL],
];

for (const [query, createdAts] of RANGES) {
  test(`${JSON.stringify(query)} selects ${createdAts.length} of four bookings`, async () => {
    assert.deepEqual((await getPage(app, four.headers, query)).createdAts, createdAts);
  });
}

test("an unencoded plus, which arrives as a space, is read as a plus", async () => {
  for (const sign of ["+", "%2B", "%20"]) {
    for (const name of ["since", "cursor", "until"]) {
      const { status, body } = await getJson(
        app,
        `/api/v1/bookings?${name}=2026-10-20T12:00:00.002${sign}02:00`,
        four.headers,
      );
      const createdAts = (body as { data: { createdAt: string }[] }).data.map((booking) => booking.createdAt);
      assert.deepEqual({ status, createdAts }, { status: 200, createdAts: name === "since" ? [T3, T2] : [T1, T0] });
    }
  }
});

test("filters apply to createdAt, not to the appointment", async () => {
  const { owner, widgetId, headers } = await makeCaller(deps.db);
  const { reference } = await makeBooking(deps.db, owner, {
    widgetId,
    now: new Date("2026-10-01T00:00:00.000Z"),
    start_at: new Date("2026-12-24T09:00:00.000Z"),
    end_at: new Date("2026-12-24T10:00:00.000Z"),
  });
  assert.deepEqual((await getPage(app, headers, { until: "2026-10-02" })).references, [reference]);
  assert.deepEqual((await getPage(app, headers, { since: "2026-10-02" })).references, []);
});

const NOT_ISO = "must be an ISO 8601 date, for example 2026-11-01 or 2026-11-01T09:30:00.000Z";
const BAD_INSTANTS = [
  "",
  "now",
  "2026",
  "20261020",
  "2026-02-30",
  "2026-10-20T24:00:01Z",
  "2026-10-20T10:00:00+24:00",
  "2026-10-20 10:00:00Z",
  "2026-W43-2",
  "1760954400",
  "1760954400000",
  "0000-12-31",
  "%zz",
  "%",
  "%E0%A4%A",
  "%00",
  "2026-10-20%0A",
  "%F0%9F%98%80",
];

for (const name of ["since", "until", "cursor"]) {
  test(`a ${name} that is not an ISO date gives 400`, async () => {
    for (const text of BAD_INSTANTS) {
      assert.deepEqual(
        await getJson(app, `/api/v1/bookings?${name}=${text.replaceAll(" ", "%20")}`, four.headers),
        errorResponse(400, "bad_request", `The parameter ${name} ${NOT_ISO}.`),
        text,
      );
    }
    assert.equal((await getJson(app, `/api/v1/bookings?${name}`, four.headers)).status, 400, `${name} without a value`);
  });
}

test("until is checked even if a cursor replaces it", async () => {
  assert.deepEqual(
    await getJson(app, `/api/v1/bookings?cursor=${T3}&until=never`, four.headers),
    errorResponse(400, "bad_request", `The parameter until ${NOT_ISO}.`),
  );
});

const LIMITS: readonly [limit: string, size: number][] = [
  ["1", 1],
  ["3", 3],
  ["4", 4],
  ["5", 4],
  ["007", 4],
  ["500", 4],
  ["501", 4],
  ["9".repeat(30), 4],
];

for (const [limit, size] of LIMITS) {
  test(`limit=${limit} returns ${size} of four bookings`, async () => {
    const { createdAts, nextCursor } = await getPage(app, four.headers, { limit });
    assert.deepEqual([createdAts, nextCursor], [ALL.slice(0, size), size < 4 ? ALL[size - 1] : null]);
  });
}

test("a limit that is not a whole number of at least 1 gives 400", async () => {
  for (const limit of ["", "0", "-1", "%2B5", "+5", "1.5", "1e2", "0x10", "abc", "%31%zz", "5%20", "%D9%A3", "null"]) {
    assert.deepEqual(
      await getJson(app, `/api/v1/bookings?limit=${limit}`, four.headers),
      errorResponse(400, "bad_request", "The parameter limit must be a whole number from 1 to 500."),
      limit,
    );
  }
});

test("a repeated known parameter gives 400, however it is written", async () => {
  const values = { since: T0, until: T3, cursor: T3, limit: "1", widget: four.widgetId };
  for (const [name, value] of Object.entries(values)) {
    const inHex = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
    for (const query of [
      `${name}=${value}&${name}=${value}`,
      `${name}=${value}&x=1&${name}=`,
      `${name}&${name}`,
      `${inHex}=${value}&${name}=${value}`,
    ]) {
      assert.deepEqual(
        await getJson(app, `/api/v1/bookings?${query}`, four.headers),
        errorResponse(400, "bad_request", `The parameter ${name} was sent more than once.`),
        query,
      );
    }
  }
});

test("an unknown parameter is ignored, even repeated or malformed", async () => {
  for (const query of ["page=2&page=3", "%zz=1", "x=%zz", "=", "&&&", "a;limit=x", "", "?limit=x"]) {
    const { status, body } = await getJson(app, `/api/v1/bookings?${query}`, four.headers);
    assert.deepEqual([status, (body as { data: unknown[] }).data.length], [200, 4], query);
  }
});

test("widget selects one widget's bookings and combines with every other parameter", async () => {
  const { owner, widgetId: first, headers } = await makeCaller(deps.db);
  const second = await makeWidget(deps.db, owner);
  const third = await makeWidget(deps.db, owner);
  const made: string[] = [];
  for (let i = 0; i < 6; i++) {
    const { createdAt } = await makeBooking(deps.db, owner, { widgetId: i % 2 === 0 ? first : second });
    made.push(createdAt.toISOString());
  }
  const [m0, m1, m2, m3, m4, m5] = made;
  assert.deepEqual((await getPage(app, headers)).createdAts, [m5, m4, m3, m2, m1, m0]);
  assert.deepEqual(await getPage(app, headers, { widget: first }).then((page) => page.createdAts), [m4, m2, m0]);
  assert.deepEqual(await getPage(app, headers, { widget: second, since: String(m3) }).then((page) => page.createdAts), [
    m5,
    m3,
  ]);
  assert.deepEqual((await getPage(app, headers, { widget: third })).createdAts, []);
  assert.deepEqual(
    (await getAllPages(app, headers, { widget: second, limit: 1 })).map((page) => [page.createdAts, page.nextCursor]),
    [
      [[m5], m5],
      [[m3], m3],
      [[m1], null],
    ],
  );
});

test("a paused widget, or one with Store bookings off, keeps its bookings", async () => {
  const { owner, widgetId, headers } = await makeCaller(deps.db);
  const { reference } = await makeBooking(deps.db, owner, { widgetId });
  await updateWidget(deps.db, widgetId, { status: "paused", collect_data: false });
  assert.deepEqual((await getPage(app, headers)).references, [reference]);
  assert.deepEqual((await getPage(app, headers, { widget: widgetId })).references, [reference]);
});

test("a widget that is not the caller's gives 404 with the same bytes, whatever the reason", async () => {
  const theirs = await makeCaller(deps.db);
  await makeBooking(deps.db, theirs.owner, { widgetId: theirs.widgetId });
  const unknown = randomId<WidgetId>(systemRandom, WIDGET_ID);
  const foreign = [
    theirs.widgetId,
    unknown,
    "",
    "w_",
    "w_short",
    `${four.widgetId}x`,
    four.widgetId.slice(0, -1),
    four.widgetId.slice(2),
    `%20${four.widgetId}`,
    `${four.widgetId}%00`,
    four.widgetId.toUpperCase(),
    `${four.widgetId},${four.widgetId}`,
    "*",
    "%25",
    "%zz",
    "null",
    "'%20or%20true--",
    four.owner,
    theirs.owner,
    "w".repeat(4_000),
  ];
  const responses = new Set<string>();
  for (const widget of foreign) {
    const response = await app.inject({ url: `/api/v1/bookings?widget=${widget}`, headers: four.headers });
    const { "x-request-id": _own, date: _now, ratelimit: _count, ...headers } = response.headers;
    responses.add(JSON.stringify([response.statusCode, headers, response.body]));
  }
  assert.deepEqual(
    [...responses].map((response) => JSON.parse(response)),
    [
      [
        404,
        {
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
          "ratelimit-policy": '"default";q=60000;w=60',
          "content-type": "application/json; charset=utf-8",
          "content-length": "60",
          connection: "keep-alive",
        },
        '{"error":{"code":"not_found","message":"Widget not found."}}',
      ],
    ],
  );
});

const ISO_SHOWN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

test("the default page holds 100 bookings and no limit gives more than 500", async () => {
  const caller = await makeCaller(deps.db);
  const oldestFirst = await fillBookings(deps.db, caller, { count: 1_001, firstAt: new Date(T0) });
  const newestFirst = oldestFirst.toReversed();
  for (const [query, size] of [
    [{}, 100],
    [{ limit: 500 }, 500],
    [{ limit: 501 }, 500],
    [{ limit: 1_000 }, 500],
    [{ limit: "9".repeat(30) }, 500],
  ] as const) {
    const page = await getPage(app, caller.headers, query);
    assert.deepEqual([page.createdAts, page.nextCursor], [newestFirst.slice(0, size), newestFirst[size - 1]]);
    assert.match(String(page.nextCursor), ISO_SHOWN);
  }
});

test("nextCursor is the last createdAt while there are more, and null on the last page, even a full one", async () => {
  const caller = await makeCaller(deps.db);
  const newestFirst = (await fillBookings(deps.db, caller, { count: 12, firstAt: new Date(T0) })).toReversed();
  for (const limit of [1, 2, 3, 4, 5, 6, 7, 11, 12, 13]) {
    const pages = await getAllPages(app, caller.headers, { limit });
    assert.equal(pages.length, Math.ceil(12 / limit), `limit ${limit}`);
    assert.deepEqual(
      pages.flatMap((page) => page.createdAts),
      newestFirst,
    );
    assert.deepEqual(
      pages.map((page) => page.nextCursor),
      pages.map((page, i) => (i === pages.length - 1 ? null : page.createdAts.at(-1))),
    );
  }
});

test("paging continues when bookings are deleted between pages, including the cursor's own", async () => {
  const caller = await makeCaller(deps.db);
  const newestFirst = (await fillBookings(deps.db, caller, { count: 6, firstAt: new Date(T0) })).toReversed();
  const first = await getPage(app, caller.headers, { limit: 2 });
  await deps.db
    .deleteFrom("bookings")
    .where("organization_id", "=", caller.owner)
    .where("created_at", "in", [new Date(String(newestFirst[1])), new Date(String(newestFirst[2]))])
    .execute();
  const second = await getPage(app, caller.headers, { limit: 2, cursor: String(first.nextCursor) });
  assert.deepEqual(second.createdAts, [newestFirst[3], newestFirst[4]]);
});

// Business keeps 24 calendar months: at noon on 1 November 2026, everything since noon on 1 November 2024.
const AT_CUTOFF = "2024-11-01T12:00:00.000Z";
const PAST_CUTOFF = "2024-11-01T11:59:59.999Z";
const WITHIN = "2024-11-01T12:00:00.001Z";

const aged = await makeCaller(deps.db);
await fillBookings(deps.db, aged, { count: 3, firstAt: new Date(PAST_CUTOFF) });

async function countStored(): Promise<number> {
  const bookings = deps.db.selectFrom("bookings").select("reference");
  return (await bookings.where("organization_id", "=", aged.owner).execute()).length;
}

test("a booking one millisecond past retention is not returned although it is still stored; one exactly at the limit is", async () => {
  clock.set(NOON);
  assert.equal(await countStored(), 3);
  assert.deepEqual((await getPage(app, aged.headers)).createdAts, [WITHIN, AT_CUTOFF]);
});

test("no parameter reaches past the retention period", async () => {
  clock.set(NOON);
  for (const query of [
    { since: "1970-01-01" },
    { since: PAST_CUTOFF },
    { widget: aged.widgetId, since: "1970-01-01" },
    { limit: 500, cursor: "9999-12-31" },
  ]) {
    assert.deepEqual((await getPage(app, aged.headers, query)).createdAts, [WITHIN, AT_CUTOFF], JSON.stringify(query));
  }
  assert.deepEqual((await getPage(app, aged.headers, { cursor: AT_CUTOFF })).createdAts, []);
  assert.deepEqual((await getPage(app, aged.headers, { until: AT_CUTOFF })).createdAts, []);
});

test("the last page ends at the retention period", async () => {
  clock.set(NOON);
  const first = await getPage(app, aged.headers, { limit: 1 });
  assert.deepEqual([first.createdAts, first.nextCursor], [[WITHIN], WITHIN]);
  const last = await getPage(app, aged.headers, { limit: 1, cursor: WITHIN });
  assert.deepEqual([last.createdAts, last.nextCursor], [[AT_CUTOFF], null]);
});

test("bookings expire as time passes, to the millisecond", async () => {
  const seen: string[][] = [];
  for (const now of [
    "2026-11-01T11:59:59.999Z",
    "2026-11-01T12:00:00.000Z",
    "2026-11-01T12:00:00.001Z",
    "2026-11-01T12:00:00.002Z",
  ]) {
    clock.set(new Date(now));
    seen.push((await getPage(app, aged.headers)).createdAts);
  }
  assert.deepEqual(seen, [[WITHIN, AT_CUTOFF, PAST_CUTOFF], [WITHIN, AT_CUTOFF], [WITHIN], []]);
});

test("24 months before 29 February is 28 February", async () => {
  const leap = await makeCaller(deps.db);
  await fillBookings(deps.db, leap, { count: 2, firstAt: new Date("2026-02-28T11:59:59.999Z") });
  clock.set(new Date("2028-02-29T12:00:00.000Z"));
  assert.deepEqual((await getPage(app, leap.headers)).createdAts, ["2026-02-28T12:00:00.000Z"]);
});
