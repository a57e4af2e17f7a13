import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { OrganizationShape } from "#contract/app/account.ts";
import { askApp } from "../support/app/app-api.ts";
import { findAccessibilityFaults, noBrowser, useBrowser } from "../support/browser/browser.ts";
import { goTo, showScreen, startDashboard } from "../support/browser/dashboard.ts";
import { assertGoodLooks } from "../support/browser/looks.ts";
import { makeBooking, makeWidget } from "../support/builders.ts";
import { until } from "../support/until.ts";
import { makeEndpoint } from "../support/webhooks/webhook-service.ts";

// What all screens share, and the screens of an organization's and a person's own settings.

const PNG_START = "89504e470d0a1a0a0000";

const dashboard = await startDashboard({ plan: "pro", settings: { webhookAllowCidrs: ["127.0.0.0/8"] } });

describe("around every screen", { skip: noBrowser }, () => {
  const browser = useBrowser();

  test("a network failure is reported, and what was typed stays", async () => {
    const { page } = await dashboard.share(browser, { role: "admin" });
    await page.goto(dashboard.addressOf("/settings"));
    const name = page.getByLabel("Organization name");
    await name.fill("Lindenhof & Partners");
    await page.route("**/api/app/organization", (route) => route.abort());
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Can’t reach Bookflow.").waitFor();
    assert.equal(await name.inputValue(), "Lindenhof & Partners");
    await page.unroute("**/api/app/organization");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Settings saved").waitFor();
    await page.getByRole("button", { name: /Organization: Lindenhof & Partners/ }).waitFor();
    await name.fill("Lindenhof Dental");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: /Organization: Lindenhof Dental/ }).waitFor();
  });

  test("a logo is uploaded and removed, and the same file can be chosen again", async () => {
    const { page } = await dashboard.share(browser, { role: "admin" });
    await goTo(page, dashboard.addressOf("/settings"));
    const input = page.locator("input[type=file]");
    await input.setInputFiles({ name: "logo.png", mimeType: "image/png", buffer: Buffer.from(PNG_START, "hex") });
    await page.getByText("Logo uploaded").waitFor();
    await page.getByRole("button", { name: "Remove logo" }).click();
    await page.getByText("No logo yet").waitFor();
    // The browser reports no change if the input still has that file.
    assert.equal(await input.inputValue(), "");
  });

  test("a screen whose code can't be loaded says so, and appears once the network is back", async () => {
    const { page } = await dashboard.open(browser, { role: "admin" });
    await page.goto(dashboard.addressOf("/settings"));
    await page.getByLabel("Organization name").waitFor();
    let loads = 0;
    page.on("request", (request) => {
      if (request.isNavigationRequest()) loads++;
    });
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Analytics" }).click();
    await page.getByText("Can’t reach Bookflow.").waitFor();
    assert.equal(loads, 0, "the open screen stays while nothing can be loaded");
    await page.context().setOffline(false);
    await page.getByRole("heading", { level: 1, name: "Analytics" }).waitFor();

    // A newer version has replaced the file.
    loads = 0;
    await page.route("**/assets/dashboard/AuditPage-*.js", (route) => route.fulfill({ status: 404 }));
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByText("Something went wrong. Reload the page and try again.").waitFor();
    assert.equal(loads, 1, "the page is reloaded once");
    await page.unroute("**/assets/dashboard/AuditPage-*.js");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
  });

  test("Settings and Profile ask before discarding unsaved changes", async () => {
    const { page } = await dashboard.share(browser, { role: "admin" });
    const question = page.getByRole("dialog", { name: "Discard unsaved changes?" });
    for (const [path, label] of [
      ["/settings", "Organization name"],
      ["/profile", "Name"],
    ] as const) {
      await goTo(page, dashboard.addressOf(path));
      const field = page.getByRole("textbox", { name: label, exact: true });
      await field.fill("Not saved");
      await page.getByRole("link", { name: "Members" }).click();
      await question.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor({ state: "detached" });
      assert.equal(await field.inputValue(), "Not saved");
      await page.getByRole("link", { name: "Members" }).click();
      await question.getByRole("button", { name: "Leave" }).click();
      await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
    }
  });

  test("every screen is accessible, in light and dark, on desktop and phone", async () => {
    const screens = ["/members", "/audit", "/settings", "/profile", "/nowhere"].map(dashboard.addressOf);
    const entries = ["/sign-in", "/forgot-password", "/reset-password?token=x", "/sign-up", "/app/new-organization"];
    const { page } = await dashboard.share(browser);
    const complaints = listenForComplaints(page);
    await page.goto("about:blank");
    for (const address of [...screens, ...entries.map((path) => dashboard.base + path)]) {
      await goTo(page, address);
      await page.waitForURL(address);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".mantine-Skeleton-root").first().waitFor({ state: "detached" });
      await assertGoodLooks(page);
    }
    assert.deepEqual(complaints, []);
  });

  test("the organization and the account have their picture, name and arrow in one row", async () => {
    const { page } = await dashboard.share(browser, { role: "admin" });
    await goTo(page, dashboard.addressOf("/members"));
    for (const name of [/^Organization:/, /^Your account:/]) {
      const button = page.getByRole("button", { name });
      const middles: number[] = [];
      for (const part of [".mantine-Avatar-root", "svg"]) {
        const box = await button.locator(part).boundingBox();
        assert.ok(box);
        middles.push(Math.round(box.y + box.height / 2));
      }
      assert.equal(middles[0], middles[1], String(name));
    }
  });

  test("nothing moves while a screen loads for someone who prefers reduced motion", async () => {
    const { page } = await dashboard.share(browser, { role: "admin" });
    const { promise: isSeen, resolve: show } = Promise.withResolvers<void>();
    await page.route("**/api/app/members", async (route) => {
      await isSeen;
      await route.continue();
    });
    await showScreen(page, dashboard.addressOf("/members"));
    await page.locator(".mantine-Skeleton-root").first().waitFor();
    const isMoving = () => page.evaluate("document.getAnimations().length > 0");
    assert.equal(await isMoving(), false);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    assert.equal(await isMoving(), true);
    await page.emulateMedia({ reducedMotion: "reduce" });
    show();
    await page.getByRole("table", { name: "Members" }).waitFor();
  });

  test("keyboard focus moves to new content", async () => {
    const { page } = await dashboard.share(browser, { role: "admin" });
    // Only a page that has just loaded has its focus at the very start.
    await page.goto(dashboard.addressOf("/members"));
    await page.getByRole("table", { name: "Members" }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Skip to content");
    await page.getByRole("link", { name: "Audit log" }).press("Enter");
    await page.getByRole("heading", { name: "Audit log" }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Audit log");
    assert.equal(await page.title(), "Audit log · Bookflow");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  });

  test("Ctrl K finds a screen, a booking, a widget and an endpoint; Help leads to the documents and the shortcuts", async () => {
    const { deps, organizationId } = dashboard;
    const widgetId = await makeWidget(deps.db, organizationId, { name: "Harbour branch" });
    const { reference } = await makeBooking(deps.db, organizationId, { widgetId, customer_name: "Wilma Suchfall" });
    const business = { owner: organizationId, widgetId, plan: "pro" } as const;
    const { id: endpointId } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/hook" });
    const { page } = await dashboard.share(browser);
    await showScreen(page, dashboard.addressOf("/members"));
    await page.getByRole("table", { name: "Members" }).waitFor();
    const search = page.getByPlaceholder("Search screens, bookings, widgets and endpoints");
    for (const [text, label, path] of [
      ["audit", "Audit log", "/audit"],
      ["127.0.0.1:9", "127.0.0.1:9", `/webhooks/${endpointId}`],
      [reference.toLowerCase(), "Wilma Suchfall", `/bookings/${reference}`],
      ["suchfall", "Wilma Suchfall", `/bookings/${reference}`],
      ["harbour", "Harbour branch", `/widgets/${widgetId}`],
    ] as const) {
      await page.keyboard.press("Control+K");
      assert.equal(await search.inputValue(), "", "it was opened again at once, and starts empty");
      await search.fill(text);
      await page.getByRole("button", { name: label }).last().waitFor();
      if (path === "/audit") assert.deepEqual(await findAccessibilityFaults(page), []);
      await page.keyboard.press("Enter");
      await page.waitForURL(dashboard.addressOf(path));
    }
    await page.keyboard.press("Control+K");
    const { promise: isSeen, resolve: fail } = Promise.withResolvers<void>();
    await page.route("**/api/app/bookings?*", async (route) => {
      await isSeen;
      await route.abort();
    });
    await search.fill("nobody");
    await page.getByText("Searching…").waitFor();
    fail();
    await page.getByText("The search failed.", { exact: false }).waitFor();
    await page.unroute("**/api/app/bookings?*");
    await search.fill("nobody else");
    await page.getByText("No matches").waitFor();
    await page.keyboard.press("Escape");
    await search.waitFor({ state: "detached" });
    await page.keyboard.press("Shift+?");
    const shortcuts = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await shortcuts.waitFor();
    await page.keyboard.press("Escape");
    await shortcuts.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Help" }).press("Enter");
    assert.equal(await page.getByRole("menuitem", { name: "Documentation" }).getAttribute("href"), "/docs");
    // A menu takes the focus a moment after it opens.
    await page.locator("[role=menu]:focus-within").waitFor();
    await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).press("Enter");
    await shortcuts.waitFor();
  });

  test("a screen that appears while someone types into the search leaves the focus there, and takes it otherwise", async () => {
    const { page } = await dashboard.share(browser);
    await page.goto(dashboard.addressOf("/members"));
    await page.getByRole("table", { name: "Members" }).waitFor();
    const { promise: isTyping, resolve: show } = Promise.withResolvers<void>();
    await page.route("**/assets/dashboard/AuditPage-*.js", async (route) => {
      await isTyping;
      await route.continue();
    });
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.keyboard.press("Control+K");
    const search = page.getByPlaceholder("Search screens, bookings, widgets and endpoints");
    await search.fill("profi");
    show();
    await page.getByText("Audit log", { exact: true }).and(page.locator("h1")).waitFor();
    await page.keyboard.type("le");
    assert.equal(await search.inputValue(), "profile");
    await page.keyboard.press("Enter");
    await page.waitForURL(dashboard.addressOf("/profile"));
    await page.getByRole("heading", { level: 1 }).and(page.locator(":focus")).waitFor();
  });

  test("changes by someone else appear, and what was typed stays", async () => {
    const { page: one } = await dashboard.share(browser, { role: "admin" });
    const other = await dashboard.find("owner");
    await showScreen(one, dashboard.addressOf("/settings"));
    await one.getByLabel("Organization name").fill("Lindenhof am See");
    const change = async (body: object) => await askApp(dashboard.app, other, "PATCH /organization", body);
    assert.equal((await change({ timeZone: "Asia/Tokyo" })).status, 200);
    await one.getByRole("button", { name: "Save" }).click();
    await one.getByText("Settings saved").waitFor();
    await until(
      async () => (await one.getByRole("combobox", { name: "Time zone" }).inputValue()).includes("Tokyo"),
      "the time zone that someone else chose appears",
    );
    const read = async () => (await askApp(dashboard.app, other, "GET /organization")).body as OrganizationShape;
    const saved = await read();
    assert.deepEqual([saved.name, saved.timeZone], ["Lindenhof am See", "Asia/Tokyo"]);

    await one.getByLabel("Organization name").fill("Lindenhof am Meer");
    assert.equal((await change({ name: "Lindenhof am Berg" })).status, 200);
    await one.getByRole("button", { name: "Save" }).click();
    await one.getByText("Someone else changed this to Lindenhof am Berg.").waitFor();
    assert.equal(await one.getByLabel("Organization name").inputValue(), "Lindenhof am Meer");
    assert.equal((await read()).name, "Lindenhof am Berg");
    await one.getByRole("button", { name: "Save" }).click();
    await one.getByRole("button", { name: /Organization: Lindenhof am Meer/ }).waitFor();
    assert.equal((await read()).name, "Lindenhof am Meer");
  });
});

/** What the browser reports: script errors, and requests refused by the Content-Security-Policy. */
function listenForComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  return complaints;
}
