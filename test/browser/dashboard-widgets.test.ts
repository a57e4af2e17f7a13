import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { WidgetId } from "#contract/ids.ts";
import { askApp } from "../support/app/app-api.ts";
import { findAccessibilityFaults, noBrowser, useBrowser } from "../support/browser/browser.ts";
import { goTo, showScreen, startDashboard } from "../support/browser/dashboard.ts";
import { countBooked, fillForm, goToForm, listSteps, send, waitForBooked } from "../support/browser/frame.ts";
import { assertGoodLooks } from "../support/browser/looks.ts";
import { makeWidget } from "../support/builders.ts";
import { visitId } from "../support/funnel/hits.ts";
import { until } from "../support/until.ts";

const VISITOR = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const dashboard = await startDashboard();
const widget = await makeWidget(dashboard.deps.db, dashboard.organizationId, { name: "Website" });

describe("the widgets screens", { skip: noBrowser }, () => {
  const browser = useBrowser();

  const read = (id: WidgetId) =>
    dashboard.deps.db.selectFrom("widgets").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  async function openWidget(id: WidgetId, query = ""): Promise<Page> {
    const { page } = await dashboard.share(browser, { role: "member" });
    await showScreen(page, dashboard.addressOf(`/widgets/${id}${query}`));
    await page.getByRole("tab", { name: "Install" }).waitFor();
    return page;
  }

  test("a new widget is in test mode, and its first view on a page appears by itself", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    await showScreen(page, dashboard.addressOf("/widgets"));
    await page.getByRole("button", { name: "Create widget" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Potsdam");
    await page.getByRole("radio", { name: "Minimal" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create widget" }).click();
    await page.getByText("Potsdam created in test mode").waitFor();
    await page.getByText("This widget is in test mode").waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) as WidgetId;
    const { name, template, collect_data: isStoring, business_name: business } = await read(id);
    assert.deepEqual([name, template, isStoring, business], ["Potsdam", "minimal", false, "Lindenhof Dental"]);

    await page.getByRole("tab", { name: "Install" }).click();
    const snippet = page.locator("pre");
    assert.match(await snippet.innerText(), new RegExp(`loader\\.js"></script>\\n<svc-booking widget="${id}">`));
    await page.getByText("This snippet works on this computer only").waitFor();
    const testPage = await page.getByRole("link", { name: "Open test page" }).getAttribute("href");
    assert.equal(testPage, `${dashboard.deps.config.baseUrl}/test-page/${id}?show=inline`);
    await page.getByText("Popup", { exact: true }).click();
    await page.getByText(`data-svc-open="${id}"`).waitFor();
    await page.getByText("Floating button", { exact: true }).click();
    await page.getByText('data-mode="float"').waitFor();
    await page.getByText("add this line to every page without the button:", { exact: false }).waitFor();

    await page.getByText("Waiting for the first view").waitFor();
    await page.route(`**/api/app/widgets/${id}`, (route) => route.abort());
    await page.getByText("This page may be out of date. Can’t reach Bookflow.").waitFor();
    assert.equal(await page.getByText("Waiting for the first view").isVisible(), true);
    await page.unroute(`**/api/app/widgets/${id}`);
    const site = "https://lindenhof.example/contact";
    const body = { visitId: visitId(1), page: site, attribution: {}, events: [{ step: "widget_viewed" }] };
    const response = await fetch(`${dashboard.base}/embed-api/${id}/events`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": VISITOR },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 204);
    await page.getByText(`Installed on ${site}`).waitFor();
    await page.getByText("First viewed on 1 Nov 2026, 13:00.", { exact: false }).waitFor();
  });

  test("the test page shows the widget in each display mode", async () => {
    const page = await browser.open();
    const errors: string[] = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    const frameIsThere = () => until(() => page.frames().length === 2, "the booking frame is there");
    await page.goto(`${dashboard.base}/test-page/${widget}`);
    await frameIsThere();
    await page.goto(`${dashboard.base}/test-page/${widget}?show=popup`);
    await page.getByRole("link", { name: "Book now" }).click();
    await frameIsThere();
    await page.goto(`${dashboard.base}/test-page/${widget}?show=float`);
    await page.locator("[data-svc]").waitFor({ state: "attached" });
    assert.deepEqual(errors, []);
  });

  test("changes are saved, and errors are shown at their fields", async () => {
    const page = await openWidget(widget);
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Main website");
    await page.getByRole("textbox", { name: "Accent colour", exact: true }).fill("#0A7A55");
    await page.getByLabel("Fallback link").fill("https://scheduler.example/lindenhof");
    const domains = page.getByLabel("Allowed domains").first();
    await domains.fill("not a/domain");
    await domains.press("Enter");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Enter host names").waitFor();
    for (const _ of ["a/domain", "not"]) await domains.press("Backspace");
    await domains.fill("Lindenhof.example");
    await domains.press("Enter");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Main website saved").waitFor();
    const row = await read(widget);
    assert.deepEqual(
      [row.name, row.accent_color, row.booking_url, row.allowed_domains],
      ["Main website", "#0a7a55", "https://scheduler.example/lindenhof", ["lindenhof.example"]],
    );
    assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
  });

  test("unsaved changes survive switching tabs, and leaving asks first", async () => {
    const page = await openWidget(widget);
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await name.fill("Not saved");
    await page.getByRole("tab", { name: "Install" }).click();
    await page.getByRole("heading", { name: "Add to your page" }).waitFor();
    await page.getByRole("link", { name: "Bookings" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Discard unsaved changes?" });
    await dialog.getByText("Your changes to the design haven’t been saved.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("tab", { name: "Design" }).click();
    assert.equal(await name.inputValue(), "Not saved");
    await page.getByRole("link", { name: "Bookings" }).first().click();
    await dialog.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { level: 1, name: "Bookings" }).waitFor();
  });

  test("unsaved services survive a refresh and switching tabs, and a service that is gone isn’t a change", async () => {
    const id = await makeWidget(dashboard.deps.db, dashboard.organizationId, { name: "Choosy" });
    const person = await dashboard.find("owner");
    const offer = [
      { serviceId: "removed", staffIds: null },
      { serviceId: "consultation", staffIds: null },
    ];
    await askApp(dashboard.app, person, `PATCH /widgets/${id}`, { offer });
    const page = await openWidget(id, "?tab=services");
    const save = page.getByRole("button", { name: "Save services" });
    const [offered, other] = [page.getByRole("checkbox").nth(0), page.getByRole("checkbox").nth(1)];
    await offered.and(page.locator(":checked")).waitFor();
    assert.equal(await save.isDisabled(), true);
    await other.check();

    // Pausing the widget reads everything again, and its system has one service more by now.
    await page.route(`**/api/app/widgets/${id}/services`, async (route) => {
      const response = await route.fetch();
      const { services } = await response.json();
      const added = { id: "added", name: "Brand new", durationMinutes: 10, staff: [] };
      await route.fulfill({ response, json: { services: [...services, added] } });
    });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByRole("checkbox", { name: "Brand new" }).waitFor();
    assert.deepEqual([await other.isChecked(), await save.isEnabled()], [true, true]);
    await page.getByRole("tab", { name: "Install" }).click();
    await page.getByRole("heading", { name: "Add to your page" }).waitFor();
    await page.getByRole("tab", { name: "Services" }).click();
    assert.equal(await other.isChecked(), true);
    await askApp(dashboard.app, person, `PATCH /widgets/${id}`, { offer: null });
    await save.click();
    await page.getByText("Someone else changed the services.", { exact: false }).waitFor();
    assert.equal(await other.isChecked(), true);
    // By keyboard, since toasts cover the button.
    await save.press("Enter");
    await page.getByText("Services for Choosy saved").waitFor();
    const ids = (await read(id)).offers["sandbox"]?.map(({ serviceId }) => serviceId);
    assert.deepEqual([ids?.length, ids?.[0]], [2, "consultation"]);
    assert.equal(await save.isDisabled(), true);
  });

  test("simultaneous changes by two people are both kept, or the second person is told", async () => {
    const page = await openWidget(widget);
    const person = await dashboard.find("owner");
    await askApp(dashboard.app, person, `PATCH /widgets/${widget}`, { businessName: "Lindenhof & Partners" });
    await page.getByRole("radio", { name: "Compact" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/ saved$/).waitFor();
    assert.equal(await page.getByLabel("Business name").inputValue(), "Lindenhof & Partners");
    const { template, business_name: business } = await read(widget);
    assert.deepEqual([template, business], ["compact", "Lindenhof & Partners"]);

    const domains = page.getByLabel("Allowed domains").first();
    await domains.fill("mine.example");
    await domains.press("Enter");
    await askApp(dashboard.app, person, `PATCH /widgets/${widget}`, { allowedDomains: ["theirs.example"] });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Someone else changed this to theirs.example.").waitFor();
    await page.getByText("mine.example", { exact: true }).waitFor();
    assert.deepEqual((await read(widget)).allowed_domains, ["theirs.example"]);
    const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
    await page.getByRole("button", { name: "Save" }).click();
    assert.equal((await saved).status(), 200);
    assert.deepEqual((await read(widget)).allowed_domains.at(-1), "mine.example");
  });

  test("when the response to creating one is lost, pressing the button again leads to the created widget", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    await showScreen(page, dashboard.addressOf("/widgets?new=1"));
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Lost and found");
    await page.route(
      "**/api/app/widgets",
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await dialog.getByRole("button", { name: "Create widget" }).click();
    await dialog.getByText("Nothing will be created twice").waitFor();
    await dialog.getByRole("button", { name: "Create widget" }).click();
    await page.getByRole("heading", { level: 1, name: "Lost and found" }).waitFor();
    await showScreen(page, dashboard.addressOf("/widgets"));
    await page.getByRole("link", { name: "Lost and found" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Lost and found" }).count(), 1);
  });

  test("the browser's Back closes the dialog, goes from tab to tab, and asks before discarding changes", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    await showScreen(page, dashboard.addressOf("/widgets"));
    await page.getByRole("button", { name: "Create widget" }).click();
    await page.getByRole("dialog", { name: "Create widget" }).waitFor();
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goForward();
    await page.getByRole("dialog", { name: "Create widget" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator("h1:focus, button:focus").waitFor();

    const address = dashboard.addressOf(`/widgets/${widget}`);
    await page.locator(`a[href$="${widget}"]`).click();
    await page.getByRole("tab", { name: "Install" }).click();
    await page.waitForURL(`${address}?tab=install`);
    await page.goBack();
    await page.waitForURL(address);
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    await name.fill("Not saved");
    const question = page.getByRole("dialog", { name: "Discard unsaved changes?" });
    await page.evaluate("history.back()");
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "detached" });
    await page.waitForURL(address);
    assert.equal(await name.inputValue(), "Not saved");
    await page.evaluate("history.back()");
    await question.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL(dashboard.addressOf("/widgets"));
    await page.getByRole("heading", { level: 1, name: "Widgets" }).waitFor();
  });

  test("the preview shows unsaved names, colours and template, counts nothing and books nothing", async () => {
    const { deps, organizationId } = dashboard;
    const id = await makeWidget(deps.db, organizationId, { name: "Previewed" });
    await deps.db
      .updateTable("widgets")
      .set({ allowed_domains: ["lindenhof.example"] })
      .where("id", "=", id)
      .execute();
    const page = await openWidget(id);
    await page.getByRole("radio", { name: "Minimal" }).click();
    const frame = page.frameLocator("iframe");
    await frame.locator('html[data-template="minimal"]').waitFor({ state: "attached" });
    await page.getByLabel("Business name").fill("Elm Clinic");
    await frame.getByRole("heading", { level: 1, name: "Elm Clinic" }).waitFor();
    await goToForm(frame);
    await fillForm(frame);
    await send(frame);
    assert.equal(await waitForBooked(frame), "SVC-PREVIEW");
    assert.deepEqual(await countBooked(deps, id), [0, 0]);
    assert.deepEqual(await listSteps(deps, id), []);
    assert.equal((await read(id)).template, "classic");
  });

  test("Store bookings and the status change after confirmation", async () => {
    const id = await makeWidget(dashboard.deps.db, dashboard.organizationId, { name: "Shop" });
    const page = await openWidget(id, "?tab=storage");
    const confirm = async (dialog: string, button: string) =>
      await page.getByRole("dialog", { name: dialog }).getByRole("button", { name: button }).click();
    await page.getByRole("switch", { name: /On: new bookings/ }).click({ force: true });
    await page.getByText("Stored bookings stay for 24 months").waitFor();
    await confirm("Stop storing bookings?", "Stop storing bookings");
    await page.getByText("Store bookings turned off for Shop").waitFor();
    await page.getByRole("switch", { name: "Off: new bookings aren’t stored" }).waitFor();
    assert.equal((await read(id)).collect_data, false);
    await page.getByRole("button", { name: "Pause" }).click();
    await confirm("Pause Shop?", "Pause");
    await page.getByText("Shop paused").waitFor();
    assert.equal((await read(id)).status, "paused");
    await page.getByRole("button", { name: "Activate" }).click();
    await confirm("Activate Shop?", "Activate");
    await page.getByText("Shop activated").waitFor();
    assert.equal((await read(id)).status, "active");
  });

  test("a live widget that is paused says that nobody can book", async () => {
    const id = await makeWidget(dashboard.deps.db, dashboard.organizationId, { name: "Asleep" });
    const { page } = await dashboard.share(browser, { role: "member" });
    const route = `**/api/app/widgets/${id}`;
    await page.route(route, async (request) => {
      const response = await request.fetch();
      await request.fulfill({ response, json: { ...(await response.json()), mode: "live", status: "paused" } });
    });
    await showScreen(page, dashboard.addressOf(`/widgets/${id}`));
    await page.getByText("This widget is live but paused", { exact: true }).waitFor();
    await page.getByText("Visitors can’t book until the widget is activated.").waitFor();
    assert.deepEqual(await findAccessibilityFaults(page), []);
    await page.unroute(route);
  });

  test("without a connection, going live leads an admin to add one, and tells a member to ask", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    const dialog = page.getByRole("dialog");
    const connect = dialog.getByRole("link", { name: "Connect scheduling system" });
    await showScreen(page, dashboard.addressOf(`/widgets/${widget}?mode=go-live`));
    await dialog.getByText("Ask an admin to connect your scheduling system.").waitFor();
    assert.equal(await connect.count(), 0);
    await dashboard.share(browser, { role: "admin" });
    await showScreen(page, dashboard.addressOf(`/widgets/${widget}?mode=go-live`));
    await connect.waitFor();
  });

  test("clearing test data says what was cleared", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    await page.route("**/clear-test-data", (route) =>
      route.fulfill({ json: { bookings: 1, visits: 3, deliveries: 0 } }),
    );
    await showScreen(page, dashboard.addressOf(`/widgets/${widget}?mode=clear`));
    await page.getByRole("dialog").getByRole("button", { name: "Clear test data" }).click();
    await page.getByText("Test data cleared: 1 booking, 3 visits and 0 deliveries").waitFor();
    await page.unroute("**/clear-test-data");
  });

  test("when test data can’t be counted, the dialog says so and tries again", async () => {
    const { page } = await dashboard.share(browser, { role: "member" });
    await page.route("**/clear-test-data", (route) => route.abort());
    await showScreen(page, dashboard.addressOf(`/widgets/${widget}?mode=clear`));
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The test data couldn’t be counted.").waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Clear test data" }).isDisabled(), true);
    await page.unroute("**/clear-test-data");
    await dialog.getByRole("button", { name: "Try again" }).click();
    await dialog.getByText("This widget has no test data.").waitFor();
  });

  test("a viewer can look but not change anything", async () => {
    const { page } = await dashboard.share(browser, { role: "viewer" });
    await showScreen(page, dashboard.addressOf(`/widgets/${widget}`));
    // The reason is shown to someone who comes by keyboard.
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Save" }).focus();
    await page.getByRole("tooltip", { name: /Viewers can’t do this/ }).waitFor();
    assert.equal(await page.getByRole("textbox", { name: "Name", exact: true }).isEditable(), false);
    await page.getByRole("tab", { name: "Store bookings" }).click();
    assert.equal(await page.getByRole("switch").isDisabled(), true);
  });

  test("an unknown widget's URL says so", async () => {
    const { page } = await dashboard.share(browser);
    await showScreen(page, dashboard.addressOf("/widgets/w_222222222222"));
    await page.getByRole("heading", { name: "Widget not found" }).waitFor();
  });

  test("every screen is accessible, in light and dark, at desktop and phone width", async () => {
    const { page } = await dashboard.share(browser);
    for (const path of ["", "?new=1", `/${widget}`, `/${widget}?tab=install`, `/${widget}?tab=storage`]) {
      await goTo(page, dashboard.addressOf(`/widgets${path}`));
      await page
        .getByText(path === "" ? "All widgets" : path === "?new=1" ? "Business name" : "Install")
        .first()
        .waitFor();
      if (path === `/${widget}`) await page.frameLocator("iframe").getByRole("heading").first().waitFor();
      await assertGoodLooks(page);
    }
  });
});
