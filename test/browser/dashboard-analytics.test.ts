import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { AppAnalytics, ReportLink } from "#contract/app/analytics.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { addDrops } from "../../src/server/analytics/record/queries.ts";
import { recordHits } from "../../src/server/analytics/record/record.ts";
import { askApp } from "../support/app/app-api.ts";
import { fillPractice } from "../support/bookings/busy-practice.ts";
import { noBrowser, useBrowser } from "../support/browser/browser.ts";
import { goTo, showScreen, startDashboard } from "../support/browser/dashboard.ts";
import { assertGoodLooks, checkLooks } from "../support/browser/looks.ts";
import { makeWidget } from "../support/builders.ts";
import { makeHit, SEARCH_AD } from "../support/funnel/hits.ts";

const dashboard = await startDashboard();
const practice = await fillPractice(dashboard.deps.db, dashboard.organizationId);

describe("the analytics screen", { skip: noBrowser }, () => {
  const browser = useBrowser();

  async function choosePeriod(page: Page, label: string): Promise<void> {
    await page.getByRole("button", { name: "Last 30 days" }).click();
    await page.getByRole("button", { name: label, exact: true }).click();
  }

  async function openReport(query = ""): Promise<{ page: Page; report: AppAnalytics }> {
    const { page, person } = await dashboard.share(browser, { role: "viewer" });
    const { body } = await askApp(dashboard.app, person, `GET /analytics${query}`);
    await goTo(page, dashboard.addressOf(`/analytics${query}`));
    await page.getByRole("heading", { name: "Views by day" }).waitFor();
    return { page, report: body as AppAnalytics };
  }

  async function openOutside(address: string): Promise<Page> {
    const page = await browser.open({ viewport: { width: 1280, height: 860 } });
    await page.clock.setFixedTime(dashboard.clock.now());
    await page.goto(address);
    return page;
  }

  async function widthOfBar(dialog: Locator, key = ""): Promise<number> {
    const row = dialog.getByRole("row").filter({ has: dialog.page().getByRole("button", { name: key, exact: true }) });
    return (await row.locator("td > span").boundingBox())?.width ?? 0;
  }

  /** Events that the service couldn't record in time. */
  async function dropEvents(): Promise<void> {
    const dropped = [1, 2, 3].map((visit) => makeHit({ widgetId: practice.branch, visit, at: "2026-10-31T12:00:00Z" }));
    await addDrops(dashboard.deps.db, dropped, new Date("2026-10-31T12:00:00Z"));
  }

  test("shows the period's figures, days and funnel as the server counts them", async () => {
    const { page, report } = await openReport();
    const { totals, funnel } = report;
    assert.ok(totals.bookings > 20 && report.previous?.isComplete, "the practice is busy");
    assert.equal(await page.getByText("not counted").count(), 0, "nothing was dropped");
    const cards = page.locator("dl").first();
    assert.match(
      await cards.innerText(),
      new RegExp(`Views\\s+${totals.views}\\s[\\s\\S]*Bookings\\s+${totals.bookings}\\s`),
    );
    assert.equal(await cards.getByText("compared with 29 Aug 2026 – 27 Sept 2026").count(), 4);
    const steps = await page
      .getByRole("listitem")
      .filter({ hasText: /drop(ped|-)/ })
      .allInnerTexts();
    assert.equal(steps.length, 5);
    assert.match(steps[0] ?? "", new RegExp(`^Saw the widget\\s+${funnel.widget_viewed}\\s+100\\.0%`));
    assert.match(steps[0] ?? "", new RegExp(`${funnel.widget_viewed - funnel.service_selected} visits dropped off`));

    await page.getByRole("button", { name: "Show as table" }).click();
    const days = page.getByRole("table", { name: "Views and bookings by day" }).getByRole("row");
    assert.equal(await days.count(), 31);
    const today = report.daily.at(-1);
    const before = report.previous?.daily.at(-1);
    assert.equal(
      await days.nth(1).innerText(),
      ["1 Nov 2026", today?.views, today?.bookings, before?.views, before?.bookings].join("\t"),
    );

    const [channel] = report.channels;
    const first = page.getByRole("table", { name: "Channel" }).getByRole("row").nth(1);
    assert.match(
      await first.innerText(),
      new RegExp(`^${channel?.key}\\s+${channel?.views}\\s+${channel?.bookings}\\s`),
    );
    assert.match(
      await page.getByRole("region", { name: "Lost bookings" }).innerText(),
      new RegExp(`${totals.noAvailability}`),
    );
    await page.getByText("By weekday and hour. Times in Europe/Berlin.").waitFor();
  });

  test("accepts any number of days, and keeps period and widget in the URL, so that Back and reloading show the same", async () => {
    const { page } = await openReport();
    await page.getByRole("button", { name: "Last 30 days" }).click();
    await page.getByLabel("Number of days, including today").fill("12");
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.getByText("21 Oct 2026 – 1 Nov 2026.").waitFor();
    assert.equal(new URL(page.url()).search, "?days=12");
    await page.getByRole("combobox", { name: "Widget" }).click();
    await page.getByRole("option", { name: "Potsdam branch" }).click();
    await page.waitForURL((url) => url.search === `?days=12&widget=${practice.branch}`);
    await page.reload();
    await page.getByText("21 Oct 2026 – 1 Nov 2026.").waitFor();
    const chosen = page.locator('[value="Potsdam branch (test)"]');
    await page.getByRole("combobox", { name: "Widget" }).and(chosen).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByText("3 Oct 2026 – 1 Nov 2026.").waitFor();
    assert.equal(new URL(page.url()).search, "");
  });

  test("while a widget is excluded, the widget select doesn't say all widgets, and choosing them brings it back", async () => {
    const { page } = await openReport(`?notWidget=${practice.branch}`);
    const select = page.getByRole("combobox", { name: "Widget" });
    assert.equal(await select.inputValue(), "All but 1 widget");
    await select.click();
    await page.getByRole("option", { name: "All widgets" }).click();
    await page.waitForURL((url) => url.search === "");
    assert.equal(await select.inputValue(), "All widgets");
  });

  test("the controls take one row on every screen, and an address may write a country in lower case", async () => {
    const { page } = await openReport("?country=de");
    await page.getByRole("group", { name: "Filters" }).getByText("Germany").waitFor();
    const controls = [/^Last 30 days$/, /^vs\. previous/, /^Add filter$/, /^Segments$/].map((name) =>
      page.getByRole("button", { name }),
    );
    const countRows = async (width: number) => {
      await page.setViewportSize({ width, height: 900 });
      const boxes = controls.map((each) => each.boundingBox());
      return new Set((await Promise.all(boxes)).map((box) => Math.round(box?.y ?? 0))).size;
    };
    assert.deepEqual([await countRows(390), await countRows(768), await countRows(1440)], [1, 1, 1]);
  });

  test("a click on a figure draws it, and Back draws the one before", async () => {
    const { page } = await openReport();
    const figure = (name: string) => page.getByRole("button", { name, exact: true, pressed: false });
    await figure("Conversion rate").click();
    await page.getByRole("heading", { name: "Conversion rate by day" }).waitFor();
    await page.getByRole("button", { name: "Conversion rate", pressed: true }).waitFor();
    await figure("Average lead time").click();
    await page.getByRole("heading", { name: "Bookings by lead time" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Conversion rate by day" }).waitFor();
    await page.goBack();
    await page.getByText("Incomplete day", { exact: true }).waitFor();
    const line = page.locator(".recharts-area-curve[stroke-dasharray='5 4']");
    assert.equal(await line.count(), 1, "today is dashed");
  });

  test("comparisons match weekdays, or exact dates if wanted", async () => {
    const { page } = await openReport();
    await page.getByText("Compared with 29 Aug 2026 – 27 Sept 2026", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "vs. previous period" }).click();
    await page.getByRole("menuitem", { name: "Match exact dates" }).click();
    await page.waitForURL((url) => url.search === "?match=date");
    await page.getByText("Compared with the previous 30 days", { exact: false }).waitFor();
  });

  test("period, comparison and filters stay in view, with the figures, and nothing moves when a period is chosen", async () => {
    const { page, report } = await openReport();
    const chart = page.getByRole("region", { name: "Views by day" });
    const before = await chart.boundingBox();
    await choosePeriod(page, "Last 90 days");
    await page.getByText("4 Aug 2026 – 1 Nov 2026.").waitFor();
    assert.deepEqual(await chart.boundingBox(), before);
    await page.goBack();
    await page.getByText("3 Oct 2026 – 1 Nov 2026.").waitFor();
    const [source] = report.lists.source.rows;
    await page.getByRole("table", { name: "Source / medium" }).scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 600);
    await page
      .getByRole("table", { name: "Source / medium" })
      .getByRole("button", { name: source?.key ?? "", exact: true })
      .click();
    const chip = page.getByRole("group", { name: "Filters" }).getByText(source?.key ?? "");
    await chip.waitFor();
    const box = await chip.boundingBox();
    assert.ok(box && box.y >= 0 && box.y < 200, "the chip is in view");
    await page.getByText(`${source?.views} views, ${source?.bookings} bookings`, { exact: false }).waitFor();
  });

  test("on a phone, the first screen shows the chart", async () => {
    const { page } = await openReport();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate("scrollTo(0, 0)");
    const { y = 0, height = 0 } = (await page.locator(".recharts-surface").first().boundingBox()) ?? {};
    assert.ok(y > 0 && y + height <= 844, `from ${y} to ${y + height}`);
  });

  test("turns rows into filters that combine, live in the address and can be negated and taken back", async () => {
    const { page, report } = await openReport();
    const [channel] = report.channels;
    const inTable = (name: string) => page.getByRole("table", { name, exact: true });
    await inTable("Channel")
      .getByRole("button", { name: channel?.key ?? "", exact: true })
      .click();
    const chips = page.getByRole("group", { name: "Filters" });
    await chips.getByText(`Channel is ${channel?.key}`).waitFor();
    const totals = page.locator("dl").first();
    await totals.getByText(String(channel?.views), { exact: true }).waitFor();
    await inTable("Device").getByRole("row").nth(1).hover();
    await inTable("Device")
      .getByRole("button", { name: /^Exclude/ })
      .first()
      .click();
    await chips.getByText("is not").waitFor();
    await page.waitForURL((url) => url.searchParams.has("notDevice"));
    await page.goBack();
    await chips.getByText("is not").waitFor({ state: "detached" });
    await page.goForward();
    await chips.getByText("is not").waitFor();
    await chips.getByRole("button", { name: "Clear filters" }).click();
    await page.waitForURL((url) => url.search === "");
    await totals.getByText(String(report.totals.views), { exact: true }).waitFor();
    await page.locator('path[data-country="DE"]').click();
    await chips.getByText("Country is Germany").waitFor();
    await page.waitForURL((url) => url.search === "?country=DE");

    const twenty = Array.from({ length: 20 }, (_, i) => `notSource=other${i}`).join("&");
    await goTo(page, dashboard.addressOf(`/analytics?${twenty}`));
    const full = inTable("Source / medium")
      .getByRole("button", { name: /^Exclude/ })
      .and(page.locator("[aria-disabled=true][title='A filter can have up to 20 values.']"));
    await full.first().press("Enter");
    assert.equal(new URL(page.url()).searchParams.getAll("notSource").length, 20);
  });

  test("a filter's values are chosen in its menu, and hours and lead times are filters too", async () => {
    const { page } = await openReport("?country=DE");
    const chips = page.getByRole("group", { name: "Filters" });
    const menu = page.getByRole("dialog", { name: /^Country is/ });
    await chips.getByRole("button", { name: "Country is Germany", exact: true }).press("Enter");
    // A key pressed while the menu opens would go to where the focus moves.
    const search = menu.getByRole("textbox", { name: "Search values" }).and(page.locator(":focus"));
    await search.waitFor();
    await page.keyboard.type("aus");
    await menu.getByRole("checkbox", { name: /Austria/ }).press("Space");
    await menu.getByRole("button", { name: "Apply" }).press("Enter");
    await page.waitForURL((url) => url.search === "?country=DE&country=AT");
    await chips
      .getByRole("button", { name: "Country is Germany or Austria", exact: true })
      .and(page.locator(":focus"))
      .press("Enter");
    await search.waitFor();
    await menu.getByRole("radio", { name: "is not" }).press("Space");
    await menu.getByRole("button", { name: "Apply" }).press("Enter");
    await page.waitForURL((url) => url.search === "?notCountry=DE&notCountry=AT");
    await page.goBack();
    await chips.getByText("Country is Germany or Austria").waitFor();

    await page.getByRole("button", { name: "Add filter" }).press("Enter");
    const by = page.getByRole("combobox", { name: "Filter by" });
    await by.and(page.locator(":focus")).waitFor();
    await by.selectOption("Lead time");
    await page.getByRole("checkbox", { name: "2–3 days" }).press("Space");
    await page.getByRole("button", { name: "Apply" }).press("Enter");
    await page.waitForURL((url) => url.searchParams.get("leadTime") === "2-3");
    await page.getByText("Remove the service and lead time filters to see lost bookings.").waitFor();
    const leadTime = page.getByRole("region", { name: "Lead time" }).getByRole("button", { name: /^2–3 days/ });
    await leadTime.and(page.locator("[aria-pressed=true]")).click();
    await page.waitForURL((url) => !url.searchParams.has("leadTime"));

    const hours = page.getByRole("table", { name: "Bookings by weekday and hour" });
    const busiest = hours.locator("[tabindex='0']");
    const name = (await busiest.getAttribute("title")) ?? "";
    await busiest.press("ArrowLeft");
    await busiest.press("ArrowRight");
    await hours.getByRole("button", { name }).and(page.locator(":focus")).press("Enter");
    await chips.getByText(/^Weekday is /).waitFor();
    const bookings = /: ([0-9]+) bookings?$/.exec(name)?.[1] ?? "";
    await page.locator("dl").first().getByText(bookings, { exact: true }).first().waitFor();
    await hours.getByRole("button", { pressed: true }).click();
    await chips.getByText(/^Weekday is /).waitFor({ state: "detached" });
  });

  test("a segment is saved, chosen, renamed and deleted, and viewers only choose", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    await goTo(page, dashboard.addressOf("/analytics?country=DE&device=mobile"));
    await page.getByRole("button", { name: "Segments", exact: true }).click();
    await page.getByLabel("Save these filters as a segment").fill("Germans on phones");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Segment Germans on phones saved").waitFor();
    await page.getByRole("button", { name: "Segment: Germans on phones" }).waitFor();

    const { page: viewed } = await openReport("?channel=Direct&days=7");
    await viewed.getByRole("button", { name: "Segments", exact: true }).click();
    await viewed.getByText("Viewers can’t do this.", { exact: false }).waitFor();
    assert.equal(await viewed.getByRole("button", { name: /^Rename|^Delete/ }).count(), 0);
    await viewed.getByRole("button", { name: "Germans on phones", exact: true }).click();
    await viewed.waitForURL((url) => url.search === "?days=7&device=mobile&country=DE");

    const { page: again } = await dashboard.share(browser, { role: "member" });
    await goTo(again, dashboard.addressOf("/analytics?country=DE&device=mobile"));
    await again.getByRole("button", { name: "Segment: Germans on phones" }).click();
    await again.getByRole("button", { name: "Rename Germans on phones" }).click();
    await again.getByLabel("New name of Germans on phones").fill("Phones");
    await again.keyboard.press("Enter");
    await again.getByRole("button", { name: "Delete Phones" }).click();
    await again.getByRole("button", { name: "Delete segment" }).click();
    await again.getByText("Segment Phones deleted").waitFor();
    await again.getByRole("button", { name: "Segments", exact: true }).waitFor();
  });

  test("a shared report opens without an account, shows what the members see, leads nowhere, and ends when revoked", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    await goTo(page, dashboard.addressOf("/analytics?country=DE"));
    await page.getByRole("button", { name: "Share", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Share this report" });
    await dialog.getByLabel("Name").fill("Germany for the agency");
    await dialog.getByRole("radio", { name: "Fixed: 3 Oct 2026 – 1 Nov 2026" }).check();
    await dialog.getByRole("button", { name: "Create link" }).click();
    await dialog.getByText("Germany for the agency").waitFor();
    const member = await dashboard.find("member");
    const { data } = (await askApp(dashboard.app, member, "GET /analytics/links")).body as { data: ReportLink[] };
    const [link] = data;
    assert.equal(link?.query, "from=2026-10-03&to=2026-11-01&compare=previous&match=weekday&country=DE");
    const { body } = await askApp(dashboard.app, member, "GET /analytics?country=DE");
    const { totals } = body as AppAnalytics;

    const reader = await openOutside(link.url.replace(dashboard.deps.config.baseUrl, dashboard.base));
    await reader.getByRole("heading", { name: "Germany for the agency" }).waitFor();
    assert.match(await reader.locator("dl").first().innerText(), new RegExp(`Views\\s+${totals.views}\\s`));
    await reader.getByText("Country is Germany", { exact: false }).waitFor();
    await reader.getByRole("radiogroup", { name: "Figure" }).getByText("Bookings").click();
    await reader.getByRole("heading", { name: "Bookings by day" }).waitFor();
    assert.equal(await reader.getByRole("link").count(), 0);
    await assertGoodLooks(reader);

    await dialog.getByRole("button", { name: "Revoke Germany for the agency" }).click();
    await dialog.getByRole("button", { name: "Confirm: revoke Germany for the agency" }).click();
    await page.getByText("Link revoked").waitFor();
    await reader.reload();
    await reader.getByText("This report is no longer shared").waitFor();
    await page.keyboard.press("Escape");
  });

  test("the list of countries is sorted and searched by the names it shows", async () => {
    const { page } = await openReport();
    // Their codes are AT, DE and CH.
    const byName = ["Austria", "Germany", "Switzerland"] as const;
    await page.getByRole("button", { name: /^Show all.*countries$/ }).click();
    const dialog = page.getByRole("dialog", { name: "Countries" });
    const shown = dialog.locator("tbody button[aria-pressed]");
    await dialog.getByRole("button", { name: "Country", exact: true }).click();
    await shown.first().filter({ hasText: byName[0] }).waitFor();
    // Without the flags.
    const texts = (await shown.allInnerTexts()).map((text) => text.replace(/^\P{L}+/u, ""));
    assert.deepEqual(texts, byName);
    await dialog.getByRole("textbox", { name: "Search" }).fill("germ");
    await dialog.getByText("1–1 of 1").waitFor();
    await shown.filter({ hasText: "Germany" }).waitFor();
  });

  test("shows the funnel side by side, and a whole list: bars follow the sorted column, and its CSV has only the slice", async () => {
    const { page, report } = await openReport("?device=mobile&split=device");
    await page.getByRole("table", { name: "Funnel side by side" }).getByText("Phone").waitFor();
    const { rows: sources, count } = report.lists.source;
    await page
      .getByRole("button", { name: `Show all ${count}` })
      .first()
      .click();
    const dialog = page.getByRole("dialog", { name: "Sources" });
    await dialog.getByText(`of ${count}`).waitFor();
    for (const [name, column] of [
      ["Views", "views"],
      ["Rate", "conversionRate"],
      ["Bookings", "bookings"],
    ] as const) {
      await dialog.getByRole("button", { name, exact: true }).click();
      await dialog.getByRole("columnheader", { name }).and(page.locator("[aria-sort=descending]")).waitFor();
      const most = Math.max(...sources.map((row) => row[column]));
      const widest = await widthOfBar(dialog, sources.find((row) => row[column] === most)?.key);
      for (const row of sources) {
        const share = (await widthOfBar(dialog, row.key)) / widest;
        assert.ok(Math.abs(share - row[column] / most) < 0.02, `${row.key}: ${share} of the widest by ${name}`);
      }
    }

    await dialog.getByRole("textbox", { name: "Search" }).fill("google");
    await dialog.getByText("1–2 of 2").waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "CSV" }).click(),
    ]);
    assert.equal(
      (await readFile(await file.path(), "utf8")).replace("\uFEFF", ""),
      [
        "source / medium,views,bookings,conversionRate\r\n",
        ...sources
          .filter(({ key }) => key.startsWith("google"))
          .map(({ key, views, bookings, conversionRate }) => `${key},${views},${bookings},${conversionRate}\r\n`),
      ].join(""),
    );
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
  });

  test("rows, chips, menus and dialogs work with the keyboard, and the focus is never lost", async () => {
    const { page } = await openReport();
    const press = async (name: string | RegExp, key = "Enter") => {
      await page.getByRole("button", { name }).first().focus();
      await page.keyboard.press(key);
    };
    const chips = page.getByRole("group", { name: "Filters" });
    const focused = () => page.evaluate("document.activeElement.textContent || document.activeElement.ariaLabel");
    await press("Organic Search");
    await chips.getByText("Channel is Organic Search").waitFor();
    await page.getByTitle("Remove filter Organic Search").waitFor();
    assert.equal(await focused(), "Organic Search");
    await press("Exclude Phone");
    await chips.getByText("Device is not Phone").waitFor();
    assert.match(String(await focused()), /^Channel is Organic SearchDevice is not Phone/);
    for (const name of ["Remove filter Device Phone", "Remove filter Channel Organic Search"])
      await press(name, "Space");
    await chips.waitFor({ state: "detached" });
    assert.equal(await focused(), "Analytics");

    await press(/^vs\. previous period/);
    await page.getByRole("menuitem", { name: "Previous period" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.search === "?compare=year");
    await press(/^Show all/);
    await page.getByRole("dialog").getByRole("textbox", { name: "Search" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page
      .getByRole("button", { name: /^Show all/ })
      .and(page.locator(":focus"))
      .waitFor();
  });

  test("refreshes by itself, shows bookings as they happen, and asks for nothing while it is hidden", async () => {
    const { page } = await dashboard.open(browser, { role: "viewer" });
    const now = dashboard.clock.now();
    await page.clock.install({ time: now });
    await page.goto(dashboard.addressOf("/analytics?split=device"));
    await page.getByRole("heading", { name: "Busy hours" }).waitFor();
    await page.getByRole("table", { name: "Funnel side by side" }).waitFor();
    const live = page.getByRole("region", { name: "Live" });
    await live.getByText("0 visits active in the last 5 minutes").waitFor();
    const visits = Number(/(\d+) visits? and/.exec(await live.innerText())?.[1]);
    const asked = new Set<string>();
    page.on("request", (request) => asked.add(new URL(request.url()).pathname));
    const show = (state: "hidden" | "visible") =>
      page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange")); undefined`);

    await show("hidden");
    await page.clock.runFor(10 * MINUTE_MS);
    assert.deepEqual([...asked], []);

    const booked = { widgetId: practice.website, visit: 77_001, at: now, step: "booking_completed" } as const;
    await recordHits(dashboard.deps.db, [makeHit({ ...booked, class: SEARCH_AD })]);
    await show("visible");
    await page.clock.runFor(MINUTE_MS);
    await live.getByText("Paid Search").waitFor();
    await live.getByText("1 visit active in the last 5 minutes").waitFor();
    await live.getByText(new RegExp(`^${visits + 1} visits? and `)).waitFor();
    for (const part of ["", "/live", "/split", "/times"]) assert.ok(asked.has(`/api/app/analytics${part}`), part);
  });

  test("says when the service can't be reached, retries on request, and exports what it then shows", async () => {
    const { page } = await openReport();
    const { body } = await askApp(dashboard.app, await dashboard.find("viewer"), "GET /analytics?days=7");
    await page.route("**/api/app/analytics?*", (route) => route.abort());
    await choosePeriod(page, "Last 7 days");
    await page.getByText("Can’t reach Bookflow.").waitFor();
    await page.unroute("**/api/app/analytics?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("26 Oct 2026 – 1 Nov 2026.").waitFor();

    await page.getByRole("button", { name: "Export CSV" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Views and bookings by day" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), "daily-2026-10-26-2026-11-01.csv");
    const lines = (await readFile(await file.path(), "utf8")).trimEnd().split("\r\n");
    const expected = (body as AppAnalytics).daily.map(({ day, views, bookings }) => `${day},${views},${bookings}`);
    assert.deepEqual(lines, ["\uFEFFday,views,bookings", ...expected]);
    await page.getByText("Download started").waitFor();
  });

  test("ignores parts of the address that are wrong, and shows a way back if it names an unknown widget", async () => {
    const { page } = await dashboard.share(browser, { role: "viewer" });
    const wrong = "from=tomorrow&compare=foo&weekday=someday&days=abc";
    await goTo(page, dashboard.addressOf(`/analytics?widget=w_111111111111&${wrong}`));
    await page.getByRole("button", { name: "Reset report" }).click();
    await page.getByText("3 Oct 2026 – 1 Nov 2026.").waitFor();
    await page.getByRole("button", { name: "vs. previous period" }).waitFor();
  });

  test("is accessible and does not shift, in light and dark, on desktop and phone, and says how many events were dropped", async () => {
    await dropEvents();
    const path = "/analytics?split=device&notDevice=tablet&heat=views";
    const openList = async (page: Page) => {
      await page
        .getByRole("button", { name: /^Show all/ })
        .first()
        .click();
      await page.getByRole("dialog").getByRole("row").nth(1).waitFor();
    };
    const openFilter = async (page: Page) => {
      await page.getByRole("button", { name: "Country is Zimbabwe", exact: true }).click();
      await page.getByRole("checkbox", { name: /Zimbabwe/ }).waitFor();
    };
    const openMenu = async (page: Page) => {
      await page.getByRole("button", { name: /^vs\./ }).click();
      await page.getByRole("menuitem", { name: "No comparison" }).waitFor();
    };
    const openReports = async (page: Page) => {
      await page.getByRole("button", { name: "Email reports" }).click();
      const dialog = page.getByRole("dialog", { name: "Email reports" });
      await dialog.getByText("Email is off").waitFor();
      assert.ok(await dialog.getByRole("switch", { name: "Weekly report" }).isDisabled());
    };
    // The screen with the most parts is also checked while its page loads.
    await (await dashboard.share(browser)).page.goto("about:blank");
    const empty = { path: "/analytics?country=ZW", text: "No visits match these filters" };
    await checkLooks(dashboard, browser, [
      { path, text: "3 events not counted" },
      { path, text: "3 events not counted", act: openList },
      { ...empty, act: openMenu },
      { ...empty, act: openFilter },
      { ...empty, act: openReports },
    ]);
    // The dropped events were another widget's.
    const { page } = await openReport(`?widget=${practice.website}`);
    assert.equal(await page.getByText("not counted").count(), 0);
    await openReport(`?widget=${practice.website}&widget=${practice.branch}`);
    await page.getByText("Test", { exact: true }).waitFor();
  });

  test("before the first view, the screen points to creating a widget, and then to its snippet", async () => {
    const { page, person } = await dashboard.share(browser);
    const { id: organizationId, address } = await dashboard.addOrganization(person);
    await page.route("**/api/app/analytics?*", (route) => route.abort());
    await showScreen(page, address);
    await page.getByRole("alert").getByText("Can’t reach Bookflow.", { exact: false }).waitFor();
    await page.unroute("**/api/app/analytics?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Average lead time").waitFor();
    await page.getByRole("link", { name: "Create widget" }).click();
    await page.getByRole("dialog", { name: "Create widget" }).waitFor();
    await showScreen(page, `${address}/analytics`);
    await page.getByRole("button", { name: "Create widget" }).click();
    await page.getByRole("dialog", { name: "Create widget" }).waitFor();
    const widget = await makeWidget(dashboard.deps.db, organizationId, { name: "Shop", status: "paused" });
    await showScreen(page, `${address}/analytics`);
    await page.getByText("Shop is paused: visits aren’t counted until it’s active again.").waitFor();
    await page.getByText(`<svc-booking widget="${widget}">`).waitFor();
    await assertGoodLooks(page);
  });
});
