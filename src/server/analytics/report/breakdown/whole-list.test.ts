import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppBreakdown } from "#contract/app/analytics.ts";
import type { WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../../test/support/app/app.ts";
import { askApp } from "../../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../../test/support/app/sign-in.ts";
import { makeWidget } from "../../../../../test/support/builders.ts";
import { DIRECT, makeHit, SEARCH_AD } from "../../../../../test/support/funnel/hits.ts";
import type { Hit } from "../../record/hit.ts";
import { recordHits } from "../../record/record.ts";

// Whole lists, as "Show all" and its CSV file have them.

const testApp = await createTestApp();
const { app, deps } = testApp;
const { db } = deps;

async function makeViewer() {
  const viewer = await signIn(testApp, { role: "viewer" });
  const widgetId = await makeWidget(db, viewer.organizationId, { name: "Home" });
  const list = async (query: string) => {
    const { status, body } = await askApp(app, viewer, `GET /analytics/breakdown?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    const { rows, count } = body as AppBreakdown;
    assert.ok(count >= rows.length);
    return rows.map(({ key }) => key);
  };
  const readFile = async (query: string) => {
    const { status, body } = await askApp(app, viewer, `GET /analytics.csv?table=breakdown&${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(String(body).charAt(0), "\uFEFF");
    return String(body).slice(1).split("\r\n");
  };
  /** One visit for each of these. */
  const record = (visits: readonly Partial<Hit>[]) =>
    recordHits(
      db,
      visits.map((each, visit) => ({ ...makeHit({ widgetId, visit, at: "2026-10-31T10:00:00Z" }), ...each })),
    );
  return { viewer, widgetId, list, readFile, record };
}

const booked = { conversion: { step: "booking_completed", key: "a", startAt: null } } as const;

test("a list has its rows in the order of any column, page by page", async () => {
  const { viewer, widgetId, list, record } = await makeViewer();
  const shop: WidgetId = await makeWidget(db, viewer.organizationId, { name: "Web shop" });
  await record([
    { country: "DE" },
    { country: "DE" },
    { country: "AT", widgetId: shop, ...booked },
    { country: "", widgetId: shop },
  ]);
  assert.deepEqual(await list("dimension=country"), ["AT", "DE", "(not set)"]);
  assert.deepEqual(await list("dimension=country&sort=views&order=asc"), ["AT", "(not set)", "DE"]);
  assert.deepEqual(await list("dimension=country&pageNumber=2"), []);
  assert.deepEqual(await list("dimension=widget&search=SHOP&notCountry=XX"), [shop]);
  assert.deepEqual(await list(`dimension=widget&search=${widgetId.slice(2, 6)}`), [], "nobody sees a widget's id");
  for (const query of [
    "dimension=moon",
    "dimension=page&sort=colour",
    "dimension=page&order=up",
    "dimension=page&pageNumber=0",
    "dimension=country&language=_",
    "dimension=page&weekday=someday",
    "dimension=page&notHour=24",
    "dimension=page&leadTime=5",
  ]) {
    const { status } = await askApp(app, viewer, `GET /analytics/breakdown?${query}`);
    assert.equal(status, 400, query);
    assert.equal(
      (await askApp(app, viewer, `GET /analytics.csv?table=breakdown&${query}`)).status,
      query.includes("pageNumber") ? 200 : 400,
    );
  }
});

test("countries and devices are searched and sorted by the names that people see, with and without filters", async () => {
  const { list, readFile, record } = await makeViewer();
  const devices = ["desktop", "mobile", "", "mobile", "mobile"];
  await record(["DE", "AT", "", "ZA", "CI"].map((country, i) => ({ country, device: devices[i] ?? "" })));
  for (const filter of ["", "&notCountry=FR"]) {
    const find = (query: string) => list(`${query}${filter}`);
    assert.deepEqual(await find("dimension=country&search=germ"), ["DE"]);
    assert.deepEqual(await find("dimension=country&search=Unknown"), ["(not set)"]);
    assert.deepEqual(await find("dimension=country&search=za"), ["ZA"], "a code is found as a whole");
    assert.deepEqual(await find("dimension=country&search=z"), [], "but not in part");
    assert.deepEqual(await find("dimension=country&search=cote"), ["CI"], "accents need not be typed");
    assert.deepEqual(await find("dimension=country&search=%C3%96sterr&language=de-DE"), ["AT"]);
    assert.deepEqual(await find("dimension=device&search=phone"), ["mobile"]);
    assert.deepEqual(await find("dimension=device&search=unknown"), ["(not set)"]);
    const byName = "dimension=country&sort=key&order=";
    assert.deepEqual(await find(`${byName}asc`), ["AT", "CI", "DE", "ZA", "(not set)"]);
    assert.deepEqual(await find(`${byName}desc`), ["(not set)", "ZA", "DE", "CI", "AT"]);
    // Côte d’Ivoire, Deutschland, Österreich, Südafrika, Unknown country.
    assert.deepEqual(await find(`${byName}asc&language=de`), ["CI", "DE", "AT", "ZA", "(not set)"]);
    assert.deepEqual(await find("dimension=device&sort=key&order=asc"), ["desktop", "mobile", "(not set)"]);
    assert.deepEqual(await readFile(`dimension=country&search=afr&language=de${filter}`), [
      "country,name,views,bookings,conversionRate",
      "ZA,Südafrika,1,0,0",
      "",
    ]);
  }
});

test("every country is on exactly one page, in the order of their names", async () => {
  const { list, record } = await makeViewer();
  const codes = [..."ABCDEF"].flatMap((first) => [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((second) => first + second));
  await record(codes.map((country) => ({ country })));
  const pages = [1, 2, 3, 4].map((page) => list(`dimension=country&sort=key&order=asc&pageNumber=${page}`));
  const listed = (await Promise.all(pages)).flat();
  const names = new Intl.DisplayNames("en", { type: "region" });
  const { compare } = new Intl.Collator("en");
  assert.deepEqual(
    listed,
    codes.toSorted((a, b) => compare(names.of(a) ?? "", names.of(b) ?? "")),
  );
});

test("other lists too are searched and sorted by what people see", async () => {
  const { list, record } = await makeViewer();
  const pages = ["https://www.b.example/x", "http://c.example/", "https://a.example/%C3%A4", ""];
  const campaigns = ["Äpfel", "(not set)", "zebra", "Nothing"];
  await record(pages.map((page, i) => ({ page, ...SEARCH_AD, campaign: campaigns[i] ?? "" })));
  for (const filter of ["", "&notCountry=FR"]) {
    const find = (query: string) => list(`${query}${filter}`);
    assert.deepEqual(await find("dimension=page&sort=key&order=asc"), [pages[2], pages[0], pages[1], "(not set)"]);
    assert.deepEqual(await find("dimension=page&search=unknown"), ["(not set)"]);
    assert.deepEqual(await find("dimension=page&search=https://www.b.example/x"), [pages[0]]);
    assert.deepEqual(await find("dimension=campaign&search=no%20camp"), ["(not set)"]);
    assert.deepEqual(await find("dimension=campaign&search=%C3%84PF"), ["Äpfel"]);
    assert.deepEqual(await find("dimension=campaign&search=apf"), ["Äpfel"], "accents need not be typed");
    const byName = ["Äpfel", "(not set)", "Nothing", "zebra"];
    assert.deepEqual(await find("dimension=campaign&sort=key&order=asc"), byName);
    assert.deepEqual(await find("dimension=campaign&sort=key&order=desc"), byName.toReversed());
  }
});

test("a file has every row of a long list, in the order of the screen", async () => {
  const { list, readFile, record } = await makeViewer();
  const name = (i: number) => `Campaign ${String(i).padStart(4, "0")}`;
  const hits = Array.from({ length: 900 }, (_, i) => ({ ...DIRECT, campaign: name(i) }));
  const days = [20, 21, 22, 23, 24];
  for (const day of days)
    await record(
      hits.map((hit, i) => ({
        ...hit,
        campaign: name(i + 900 * days.indexOf(day)),
        at: new Date(`2026-10-${day}T10:00:00Z`),
        visitId: `00000000-0000-4000-8000-${String(1000 * day + i).padStart(12, "0")}`,
      })),
    );
  const all = Array.from({ length: 4500 }, (_, i) => name(i));
  for (const filter of ["", "&device=mobile"]) {
    const lines = await readFile(`dimension=campaign&sort=key&order=desc${filter}`);
    assert.deepEqual(
      lines.slice(1, -1),
      all.toReversed().map((campaign) => `${campaign},1,0,0`),
    );
    assert.deepEqual(await list(`dimension=campaign&sort=key&order=asc&pageNumber=90${filter}`), all.slice(-50));
    assert.deepEqual((await readFile(`dimension=campaign&search=0042${filter}`)).slice(1, -1), ["Campaign 0042,1,0,0"]);
    assert.deepEqual(await readFile(`dimension=campaign&search=nothing${filter}`), [
      "campaign,views,bookings,conversionRate",
      "",
    ]);
  }
});

test("a file of services has their bookings, and one of widgets their names", async () => {
  const { widgetId, readFile, record } = await makeViewer();
  const evil = '=1+1,"x"';
  await record([
    {
      conversion: { ...booked.conversion, service: evil },
      steps: makeHit({ widgetId, visit: 1, at: "2026-10-31T10:00:00Z", step: "booking_completed" }).steps,
    },
  ]);
  assert.deepEqual(await readFile("dimension=service"), ["service,bookings", `"'=1+1,""x""",1`, ""]);
  assert.deepEqual(await readFile("dimension=widget"), [
    "widget,name,views,bookings,conversionRate",
    `${widgetId},Home,1,1,1`,
    "",
  ]);
  assert.deepEqual(await readFile("dimension=source"), [
    "source / medium,views,bookings,conversionRate",
    "(direct) / (none),1,1,1",
    "",
  ]);
});

test("a dry run of a file checks its parameters alone", async () => {
  const { viewer } = await makeViewer();
  const ask = async (query: string) => (await askApp(app, viewer, `GET /analytics.csv?dryRun=true&${query}`)).status;
  assert.equal(await ask("table=breakdown&dimension=page&period=all"), 204);
  assert.equal(await ask("table=breakdown&dimension=moon"), 400);
  assert.equal(await ask("table=breakdown&widget=w_111111111111"), 404);
});
