import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { sql } from "kysely";
import type { Page } from "playwright-core";
import type { MemberRole } from "#contract/app/role.ts";
import { DAY_MS } from "#contract/durations.ts";
import { askApp, readAudit } from "../support/app/app-api.ts";
import { fillPractice } from "../support/bookings/busy-practice.ts";
import { findAccessibilityFaults, noBrowser, useBrowser } from "../support/browser/browser.ts";
import { goTo, showScreen, startDashboard } from "../support/browser/dashboard.ts";
import { assertGoodLooks, checkLooks } from "../support/browser/looks.ts";
import { makeBooking, makeWidget } from "../support/builders.ts";
import { until } from "../support/until.ts";
import { book, changeEndpoints, makeEndpoint } from "../support/webhooks/webhook-service.ts";

const PAGE_SIZE = 50;
/** After this time the list reads new bookings. */
const REFRESH_MS = 15_000;

const dashboard = await startDashboard({ plan: "pro" });
const practice = await fillPractice(dashboard.deps.db, dashboard.organizationId);
const { reference: special } = await makeBooking(dashboard.deps.db, dashboard.organizationId, {
  widgetId: practice.branch,
  service_name: "Root canal treatment",
  customer_name: "Ottilie Sonderfall",
  customer_email: "Ottilie@Special.example",
  customer_notes: "Second floor",
  answers: JSON.stringify([{ questionId: "q1", question: "Any allergies?", answer: "Penicillin" }]),
  attribution: JSON.stringify({ channel: "Email", source: "letter", medium: "email", campaign: "winter-letter" }),
  time_zone: "America/New_York",
});

async function countStored(widgetId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from bookings where widget_id = ${widgetId} and not is_test`.execute(dashboard.deps.db);
  return rows[0]?.count ?? 0;
}

/** Elements that overflow their card, or the page if it overflows the window. */
const FIND_CUT_OFF = `[
  ...[...document.querySelectorAll("main table")].flatMap((table) => {
    const edge = table.closest("section").getBoundingClientRect().right;
    const cells = [...table.querySelectorAll("td, td *")].filter((each) => each.checkVisibility());
    return cells.filter((each) => each.getBoundingClientRect().right > edge).map((each) => each.outerHTML);
  }),
  ...(document.documentElement.scrollWidth > window.innerWidth ? ["the page"] : []),
]`;

describe("the bookings screen", { skip: noBrowser }, () => {
  const browser = useBrowser();

  async function openList(query = "", role: MemberRole = "owner"): Promise<Page> {
    const { page } = await dashboard.share(browser, { role });
    await showScreen(page, dashboard.addressOf(`/bookings${query}`));
    await rows(page).first().waitFor();
    return page;
  }

  const rows = (page: Page) => page.getByRole("table", { name: "Bookings" }).locator("tbody").getByRole("row");
  const waitForRows = async (page: Page, count: number) => {
    if (count > 0)
      await rows(page)
        .nth(count - 1)
        .waitFor();
    await rows(page).nth(count).waitFor({ state: "detached" });
  };

  test("lists the newest first, and older ones on request", async () => {
    const page = await openList();
    assert.equal(await rows(page).count(), PAGE_SIZE);
    assert.match(await rows(page).first().innerText(), /Ottilie Sonderfall/);
    await page.getByText(`${practice.bookings + 1} bookings.`).waitFor();
    await page.getByRole("button", { name: "Show older bookings" }).click();
    await rows(page).nth(PAGE_SIZE).waitFor();
    assert.equal(await rows(page).count(), Math.min(practice.bookings + 1, 2 * PAGE_SIZE));
  });

  test("shows upcoming appointments, soonest first, sorts by a column, and filters by appointment date", async () => {
    const page = await openList();
    const header = (name: string) => page.getByRole("columnheader", { name });
    const sorted = async (name: string, order: string) =>
      await header(name)
        .and(page.locator(`[aria-sort=${order}]`))
        .waitFor();
    await sorted("Booked", "descending");
    await page.getByText("Upcoming", { exact: true }).click();
    await sorted("Appointment", "ascending");
    await page.getByRole("heading", { name: "Upcoming bookings" }).waitFor();
    const first = async () => await rows(page).first().getByRole("cell").nth(2).innerText();
    const soonest = await first();
    await header("Appointment").getByRole("button").press("Enter");
    await sorted("Appointment", "descending");
    await page.waitForURL((url) => url.search === "?when=upcoming&sort=latest");
    await until(async () => (await first()) !== soonest, "the list is sorted anew");
    await page.getByText("All", { exact: true }).click();
    await page.getByRole("button", { name: "Appointment: any time" }).click();
    const day = page.getByRole("dialog").getByRole("button", { name: "5 November 2026", exact: true });
    await day.click();
    await day.click();
    await page.getByRole("button", { name: "Appointment: 5 Nov 2026" }).waitFor();
    await page.waitForURL((url) => url.search === "?startFrom=2026-11-05&startTo=2026-11-05");
    await page.getByRole("searchbox").fill("sonderfall");
    await page.getByText("1 match.").waitFor();
    // The number may arrive before the list.
    await waitForRows(page, 1);
    assert.match(await first(), /5 Nov 2026/);
  });

  test("finds by name, email, reference, service and campaign, with the search in the URL", async () => {
    const page = await openList();
    const search = page.getByRole("searchbox");
    for (const text of ["sonderfall", "OTTILIE@special", special.toLowerCase(), "root canal", "winter-letter"]) {
      await search.fill(text);
      await page.waitForURL((url) => url.searchParams.get("search") === text);
      await waitForRows(page, 1);
      assert.match(await rows(page).innerText(), /Ottilie Sonderfall/, text);
    }
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\/bookings\?/, (route) => isReleased.then(() => route.continue()));
    await search.fill("nobody at all");
    await page.locator("main [aria-busy=true]").waitFor();
    const number = page.getByRole("status").filter({ hasText: "Times in" });
    assert.equal((await number.innerText()).trim(), "Times in Europe/Berlin.", "the number isn't known yet");
    release();
    await page.getByRole("heading", { name: "No matches" }).waitFor();
    assert.match(await number.innerText(), /^0 matches\./);
    await page.unroute(/\/bookings\?/);
    await page.getByRole("button", { name: "Clear filters" }).last().click();
    await waitForRows(page, PAGE_SIZE);
    assert.equal(await search.inputValue(), "");
    await page.goBack();
    await page.getByRole("heading", { name: "No matches" }).waitFor();
    assert.equal(await search.inputValue(), "nobody at all");
  });

  test("filters by widget and by days in the organization's time zone", async () => {
    const page = await openList("?from=2026-11-01&to=2026-11-01");
    const today = await rows(page).allInnerTexts();
    assert.ok(today.length > 0 && today.every((text) => text.includes("1 Nov 2026")), today.join("\n"));
    await page.getByRole("combobox", { name: "Widget" }).click();
    await page.getByRole("option", { name: "Old landing page" }).click();
    await page.getByRole("heading", { name: "No matches" }).waitFor();
    await page.getByRole("button", { name: "1 Nov 2026" }).click();
    const calendar = page.getByRole("dialog");
    assert.equal(await calendar.locator("[aria-current=date]").innerText(), "1");
    assert.equal(await calendar.getByRole("button", { name: "2 November 2026", exact: true }).isDisabled(), true);
    await page.getByRole("button", { name: "Any time", exact: true }).click();
    await page.waitForURL((url) => url.search === `?widget=${practice.old}`);
  });

  test("filters by status with the keyboard, also what is upcoming and what is exported", async () => {
    const { db } = dashboard.deps;
    const start = new Date(dashboard.clock.now().getTime() + DAY_MS);
    await makeBooking(db, dashboard.organizationId, {
      widgetId: practice.website,
      customer_name: "Gone Elsewhere",
      status: "cancelled",
      start_at: start,
      end_at: start,
    });
    const page = await openList("?search=elsewhere");
    await waitForRows(page, 1);
    assert.match(await rows(page).innerText(), /Cancelled/);
    const status = page.getByRole("combobox", { name: "Status" });
    assert.equal(await status.inputValue(), "All statuses");
    /** Opens the list at the chosen option, and takes the next one. */
    const chooseNext = async () => {
      await status.focus();
      await page.keyboard.press("ArrowDown");
      await page.getByRole("option", { selected: true }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
    };
    await chooseNext();
    await page.waitForURL((url) => url.searchParams.get("status") === "confirmed");
    await page.getByRole("heading", { name: "No matches" }).waitFor();
    await chooseNext();
    await page.waitForURL((url) => url.searchParams.get("status") === "cancelled");
    await waitForRows(page, 1);
    await page.getByText("Upcoming", { exact: true }).click();
    await page.getByRole("heading", { name: "Matching upcoming bookings" }).waitFor();
    await waitForRows(page, 1);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
    assert.deepEqual(
      lines.slice(1).map((line) => line.split(",")[1]),
      ["cancelled"],
    );
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await waitForRows(page, PAGE_SIZE);
    assert.equal(await status.inputValue(), "All statuses");
  });

  test("shows a booking in full, and returns to the same list", async () => {
    const page = await openList("?search=sonderfall");
    await page.getByRole("cell", { name: "Root canal treatment" }).click();
    await page.getByRole("heading", { level: 1, name: "Ottilie Sonderfall" }).waitFor();
    const text = await page.locator("main").innerText();
    for (const part of [
      "Confirmed",
      special,
      "Ottilie@Special.example",
      "Second floor",
      "Penicillin",
      "winter-letter",
      "New York",
    ])
      assert.ok(text.includes(part), part);
    await page.getByRole("link", { name: "Bookings" }).last().click();
    await page.waitForURL((url) => url.pathname.endsWith("/bookings") && url.search === "?search=sonderfall");
    await waitForRows(page, 1);
  });

  test("shows where a booking was sent, and whether it arrived", async () => {
    const business = { owner: dashboard.organizationId, widgetId: practice.website, plan: "pro" as const };
    await makeEndpoint(dashboard.deps, business, { url: "https://93.184.216.34/hook" });
    const reference = await book(dashboard.deps, business);
    const { page } = await dashboard.share(browser);
    await showScreen(page, dashboard.addressOf(`/bookings/${reference}`));
    const row = page.getByRole("table", { name: "Deliveries" }).getByRole("row").nth(1);
    assert.match(await row.innerText(), /^https:\/\/93\.184\.216\.34\/hook\s+Queued\s+–\s+0\s/);
    assert.deepEqual(await findAccessibilityFaults(page), []);
  });

  test("hides customers from a viewer, in the list, the search and the details", async () => {
    const page = await openList(`?search=${special}`, "viewer");
    await page.getByText("Customer data is hidden").waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /Ottilie|Special/);
    await page.getByRole("link", { name: special }).click();
    await page.getByText("Customer data is hidden").waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /Ottilie|Special|Penicillin|Second floor/);
    await page.getByRole("button", { name: "Delete" }).hover();
    await page.getByRole("tooltip", { name: /Viewers can’t do this/ }).waitFor();
  });

  test("deletes one after confirmation; one that someone else already deleted disappears too", async () => {
    const { db } = dashboard.deps;
    const make = () =>
      makeBooking(db, dashboard.organizationId, { widgetId: practice.website, customer_name: "Gone Soon" });
    const [mine, theirs] = [await make(), await make()];
    const { page, person } = await dashboard.share(browser, { role: "member" });
    const remove = async (reference: string) => {
      await page.getByRole("button", { name: "Delete" }).click();
      await page
        .getByRole("dialog", { name: `Delete ${reference}?` })
        .getByRole("button", { name: "Delete" })
        .click();
    };
    await showScreen(page, dashboard.addressOf(`/bookings/${mine.reference}?search=soon`));
    await remove(mine.reference);
    await page.getByText(`${mine.reference} deleted`).waitFor();
    await waitForRows(page, 1);

    await page.getByRole("link", { name: "Gone Soon" }).click();
    await page.getByRole("heading", { level: 1, name: "Gone Soon" }).waitFor();
    await askApp(dashboard.app, person, `DELETE /bookings/${theirs.reference}`);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/app/bookings/*", (route) => isReleased.then(() => route.continue()));
    await remove(theirs.reference);
    await goTo(page, dashboard.addressOf("/widgets"));
    await page.getByRole("heading", { level: 1, name: "Widgets" }).waitFor();
    release();
    await page.getByText(`${theirs.reference} was already deleted`).waitFor();
    await page.unroute("**/api/app/bookings/*");
    assert.match(page.url(), /\/widgets$/, "a late answer leads nowhere");
    await showScreen(page, dashboard.addressOf(`/bookings/${theirs.reference}`));
    await page.getByRole("heading", { name: "Booking not found" }).waitFor();
  });

  test("erases a customer after counting and retyping the address", async () => {
    const { db } = dashboard.deps;
    const fields = { widgetId: practice.website, customer_email: "Forget.Me@Example.com", customer_name: "Forget Me" };
    for (let n = 0; n < 2; n++) await makeBooking(db, dashboard.organizationId, fields);
    const page = await openList("?search=forget");
    await page.getByRole("button", { name: "Erase customer data" }).click();
    await page.getByLabel("Customer’s email address").fill("forget.me@example.com");
    await page.getByRole("button", { name: "Find bookings" }).click();
    await page.getByText("2 bookings for").waitFor();
    const erase = page.getByRole("button", { name: "Erase data", exact: true });
    assert.equal(await erase.isDisabled(), true);
    await page.getByLabel("Type forget.me@example.com to confirm").fill("forget.me@example.com");
    await erase.click();
    await page.getByText("2 bookings erased").waitFor();
    await page.getByRole("heading", { name: "No matches" }).waitFor();
    const audit = await readAudit(db, dashboard.organizationId);
    assert.deepEqual(audit.at(-1), { action: "bookings.erased", target: null, detail: { bookings: 2 } });
  });

  test("exports the filtered bookings, and says so when the session has ended", async () => {
    const { page, person } = await dashboard.open(browser);
    await showScreen(page, dashboard.addressOf("/bookings?search=winter-letter"));
    await waitForRows(page, 1);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
    assert.equal(lines.length, 2);
    assert.match(lines[1] ?? "", new RegExp(`^${special},confirmed,`));
    assert.equal(file.suggestedFilename(), "bookings-2026-11-01.csv");
    assert.match(file.url(), /^http/, "the browser streams it to disk instead of holding it in memory");

    await page.getByRole("button", { name: "Export for ads" }).click();
    const dialog = page.getByRole("dialog", { name: "Export for ads" });
    await dialog.getByRole("radio", { name: "Google Ads: retractions" }).check();
    assert.equal(await dialog.getByRole("textbox").count(), 0, "each has the name it was exported with");
    await dialog.getByRole("radio", { name: "Meta" }).check();
    assert.equal(await dialog.getByRole("textbox", { name: "Event name" }).inputValue(), "Schedule");
    await assertGoodLooks(page);
    const [adFile] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "Download file" }).click(),
    ]);
    assert.equal(adFile.suggestedFilename(), "meta-conversions-2026-11-01.csv");
    assert.equal(await readFile(await adFile.path(), "utf8"), "event_name,event_time,email,fbc,fbp,order_id\r\n");
    await dialog.waitFor({ state: "detached" });

    await dashboard.deps.db.deleteFrom("user_sessions").where("user_id", "=", person.userId).execute();
    await page.getByRole("button", { name: "Export CSV" }).click();
    await page.getByRole("dialog", { name: "You’ve been signed out" }).waitFor();
  });

  test("counts by source what became of stored bookings, from the list's period and widget", async () => {
    const page = await openList(`?widget=${practice.branch}&search=sonderfall`);
    await page.getByRole("link", { name: "Bookings by source" }).press("Enter");
    await page.waitForURL((url) => url.pathname.endsWith("/sources") && url.search === `?widget=${practice.branch}`);
    const table = page.getByRole("table", { name: "Bookings by source" });
    const letter = table.getByRole("row", { name: /^letter/ });
    assert.match(await letter.innerText(), /^letter\s+1\s+0 0\.0%\s+0 0\.0%\s+1 100\.0%$/);
    const [, ...counts] = (await table.getByRole("row").nth(1).innerText()).split(/\s+(?=\d)/);
    assert.deepEqual(counts[0], String(await countStored(practice.branch)), "the first row is the total");
    await page.getByText("Only stored bookings are counted", { exact: false }).waitFor();
    await assertGoodLooks(page);
    await page.getByRole("button", { name: "Filters (1)" }).click();
    await page.getByRole("combobox", { name: "Widget" }).click();
    await page.getByRole("option", { name: "Old landing page" }).click();
    await page.getByRole("heading", { name: "No matches" }).waitFor();
    await page.getByRole("link", { name: "Bookings", exact: true }).last().click();
    await page.getByRole("heading", { level: 1, name: "Bookings", exact: true }).waitFor();
    assert.equal(new URL(page.url()).search, `?widget=${practice.old}`);
  });

  test("is accessible and does not shift, in light and dark, at desktop and phone width", async () => {
    await checkLooks(dashboard, browser, [
      { path: "/bookings?search=sonderfall", text: "Ottilie Sonderfall" },
      { path: `/bookings/${special}`, text: "Ottilie Sonderfall" },
    ]);
  });

  test("between phone and desktop width no table is cut off, and no screen scrolls sideways", async () => {
    const business = { owner: dashboard.organizationId, widgetId: practice.website, plan: "pro" as const };
    const url = `https://93.184.216.34/${"bookings-of-the-practice".repeat(8)}`;
    await makeEndpoint(dashboard.deps, business, { url });
    const { page } = await dashboard.share(browser);
    await page.setViewportSize({ width: 820, height: 860 });
    for (const path of ["/bookings", "/widgets", "/members", "/webhooks"]) {
      await showScreen(page, dashboard.addressOf(path));
      await page.getByRole("main").getByRole("table").first().waitFor();
      assert.deepEqual(await page.evaluate(FIND_CUT_OFF), [], path);
    }
    await page.getByTitle(url).waitFor();
  });

  test("a booking that was imported without a source and never sent says so", async () => {
    const { page, person } = await dashboard.share(browser);
    const { id, address } = await dashboard.addOrganization(person);
    const widgetId = await makeWidget(dashboard.deps.db, id);
    const { reference } = await makeBooking(dashboard.deps.db, id, { widgetId, attribution: "{}" });
    await showScreen(page, `${address}/bookings/${reference}`);
    await page.getByText("This imported booking has no source.").waitFor();
    await page.getByText("This booking wasn’t sent to any endpoint", { exact: false }).waitFor();
  });

  test("the overview tells endpoints that fail from those that Bookflow turned off", async () => {
    const { deps } = dashboard;
    const { page, person } = await dashboard.share(browser);
    const { id: owner, address } = await dashboard.addOrganization(person, { plan: "pro" });
    const business = { owner, widgetId: await makeWidget(deps.db, owner), plan: "pro" } as const;
    const add = async (host: string) => (await makeEndpoint(deps, business, { url: `https://${host}/hook` })).id;
    const [failing, off] = [await add("93.184.216.34"), await add("93.184.216.35")];
    await changeEndpoints(deps, [failing], { failing_since: dashboard.clock.now() });
    const turnedOff = { status: "disabled", disabled_reason: "failing", disabled_at: dashboard.clock.now() } as const;
    await changeEndpoints(deps, [off], turnedOff);
    await showScreen(page, address);
    const problems = page.getByRole("alert").getByRole("listitem");
    await problems.nth(1).waitFor();
    assert.deepEqual((await problems.allInnerTexts()).sort(), [
      "Bookflow turned off 93.184.216.35.",
      "Deliveries to 93.184.216.34 are failing.",
    ]);
  });

  test("when nothing is stored, the screen says why and what the export needs, and a first booking appears by itself", async () => {
    const { db } = dashboard.deps;
    const { page, person } = await dashboard.share(browser);
    const { id: organizationId, address } = await dashboard.addOrganization(person, { plan: "free" });
    await page.route("**/api/app/widgets", (route) => route.abort());
    await showScreen(page, `${address}/bookings`);
    await page.getByRole("heading", { name: "No bookings yet" }).waitFor();
    await page.unroute("**/api/app/widgets");
    await showScreen(page, `${address}/bookings`);
    await page.getByRole("heading", { name: "No widgets yet" }).waitFor();
    await page.getByRole("button", { name: "Create widget" }).click();
    await page.getByRole("dialog", { name: "Create widget" }).getByText("for the bookings list.").waitFor();
    await makeWidget(db, organizationId, { collectData: false });
    await showScreen(page, `${address}/bookings`);
    await page.getByRole("heading", { name: "Store bookings is off" }).waitFor();
    await page.getByRole("button", { name: "Export CSV" }).hover();
    await page
      .getByRole("tooltip", { name: "Available on the Pro and Business plans. See Plan in Settings." })
      .waitFor();
    const widgetId = await makeWidget(db, organizationId, { collectData: true });
    await page.clock.install({ time: dashboard.clock.now() });
    await page.reload();
    await page.getByRole("heading", { name: "No bookings yet" }).waitFor();
    assert.deepEqual(await findAccessibilityFaults(page), []);

    await makeBooking(db, organizationId, { widgetId, customer_name: "Ida Neu" });
    await page.clock.runFor(REFRESH_MS);
    await page.getByRole("link", { name: "Ida Neu" }).waitFor();
  });
});
