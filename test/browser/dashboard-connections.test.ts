import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { addConnection, removeConnection } from "../../src/server/scheduler/connections/connections.ts";
import { listConnections } from "../../src/server/scheduler/connections/queries.ts";
import { noAudit } from "../support/app/no-audit.ts";
import { noBrowser, useBrowser } from "../support/browser/browser.ts";
import { showScreen, startDashboard } from "../support/browser/dashboard.ts";
import { assertGoodLooks, checkLooks } from "../support/browser/looks.ts";
import { makeWidget, updateWidget } from "../support/builders.ts";
import { type CalcomServer, startCalcomServer } from "../support/scheduler/calcom/calcom-server.ts";
import { startCalendlyServer } from "../support/scheduler/calendly/calendly-server.ts";

const dashboard = await startDashboard({ settings: { webhookAllowCidrs: ["127.0.0.0/8"] } });
const { deps, clock, organizationId: owner } = dashboard;
after(() => deps.scheduler.outbound.close());

async function serveCalcom(): Promise<CalcomServer> {
  const server = await startCalcomServer();
  after(() => server.stop());
  return server;
}

describe("connections in the dashboard", { skip: noBrowser }, () => {
  const browser = useBrowser();

  async function open(options: Parameters<typeof dashboard.share>[1] = {}) {
    const { page } = await dashboard.share(browser, options);
    await showScreen(page, dashboard.addressOf("/connections"));
    return page;
  }

  test("a newcomer connects a system and takes a widget live, and is warned if clearing test data failed", async () => {
    const { page } = await dashboard.share(browser);
    const dialog = page.getByRole("dialog");
    const widgetId = await makeWidget(deps.db, owner, { name: "First steps" });
    const { parts } = await serveCalcom();
    await addConnection(deps, owner, { kind: "calcom", name: "Reception", ...parts }, noAudit);
    await page.route("**/clear-test-data", (route) =>
      route.request().postDataJSON().dryRun
        ? route.fulfill({ json: { bookings: 0, visits: 3, deliveries: 0 } })
        : route.fulfill({ status: 500 }),
    );
    await showScreen(page, dashboard.addressOf(`/widgets/${widgetId}?mode=go-live`));
    await dialog.getByText("Every booking becomes a real appointment there.").waitFor();
    await dialog.getByRole("checkbox", { name: "Clear this widget’s test data" }).waitFor();
    await assertGoodLooks(page);
    await dialog.getByRole("button", { name: "Check and go live" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("The test data may not have been cleared.", { exact: false }).waitFor();
    await page.unroute("**/clear-test-data");
    // For viewers too, who can't list connections.
    await dashboard.share(browser, { role: "viewer" });
    await showScreen(page, dashboard.addressOf(`/widgets/${widgetId}`));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("Bookings are made in your scheduling system.").waitFor();
    await dashboard.share(browser);
    await showScreen(page, dashboard.addressOf(`/widgets/${widgetId}?mode=test`));
    await dialog.getByText("Visitors can’t make real appointments any more.", { exact: false }).waitFor();
    await assertGoodLooks(page);
    await dialog.getByRole("button", { name: "Return to test mode" }).click();
    await page.getByText("This widget is in test mode").waitFor();
    for (const { id } of await listConnections(deps.db, owner))
      assert.deepEqual(await removeConnection(deps, owner, id), { kind: "removed" });
  });

  test("Calendly’s plan is chosen from a list and saved", async () => {
    const server = await startCalendlyServer(clock.now());
    after(() => server.stop());
    const page = await open();
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Add connection" }).click();
    await dialog.getByRole("radio", { name: "Calendly" }).click();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Reception");
    await dialog.getByLabel("Personal access token", { exact: true }).fill(server.parts.credentials.token);
    await dialog.getByRole("button", { name: "Advanced" }).click();
    assert.equal(await dialog.getByRole("combobox", { name: "Plan" }).inputValue(), "paid");
    await dialog.getByRole("combobox", { name: "Plan" }).selectOption({ label: "Enterprise" });
    await dialog.getByRole("textbox", { name: "API URL" }).fill(server.parts.settings.apiUrl);
    await dialog.getByRole("button", { name: "Check and add" }).click();
    await dialog.getByText("at most 500 bookings per minute", { exact: false }).waitFor();
    const [connection] = await listConnections(deps.db, owner);
    assert.deepEqual(connection?.settings, { apiUrl: server.parts.settings.apiUrl, plan: "enterprise" });
    await removeConnection(deps, owner, connection?.id ?? assert.fail());
  });

  test("a system is connected once it answers, tested, edited, and deleted when no widget uses it", async () => {
    const server = await serveCalcom();
    const page = await open();
    const dialog = page.getByRole("dialog");
    await page.getByText("No connections yet").waitFor();
    await page.getByRole("button", { name: "Add connection" }).click();
    const proceed = () => dialog.getByRole("button", { name: "Continue" }).press("Enter");
    // A dialog takes the focus a moment after it opens.
    await dialog.locator(":focus").waitFor();
    await proceed();
    await dialog.getByRole("heading", { name: "Register an application" }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Register an application");
    await dialog.getByLabel("Application (client) ID").fill("Bookflow");
    await dialog.getByLabel("Directory (tenant) ID").fill("example.onmicrosoft.com");
    await proceed();
    await dialog.getByText("This isn’t an application ID.", { exact: false }).waitFor();
    await dialog.getByLabel("Application (client) ID").fill("0f3c1a52-6f0e-4a3c-9d51-3a8f0c7d2b11");
    await proceed();
    await dialog.getByText("BookingsAppointment.ReadWrite.All").waitFor();
    for (let steps = 0; steps < 2; steps++) await dialog.getByRole("button", { name: "Back" }).click();
    await dialog.getByRole("radio", { name: "Cal.com", exact: true }).click();
    await proceed();
    assert.equal(await dialog.getByRole("textbox", { name: "Name" }).inputValue(), "Cal.com");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Practice");
    await dialog.getByLabel("API key", { exact: true }).fill("cal_wrong");
    await dialog.getByRole("button", { name: "Advanced" }).click();
    await dialog.getByRole("textbox", { name: "API URL" }).fill(server.parts.settings.apiUrl);
    await dialog.getByRole("button", { name: "Check and add" }).click();
    const fault = dialog.getByRole("alert").getByText("Cal.com doesn't accept this API key.", { exact: false });
    await fault.waitFor();
    const header = await dialog.locator("header").boundingBox();
    const headerEnd = Number(header?.y) + Number(header?.height);
    assert.ok(Number((await fault.boundingBox())?.y) >= headerEnd, "the fault is in view, below the dialog's title");
    assert.equal(await page.evaluate("document.activeElement.role"), "alert", "the fault has the focus");
    const lineHeight = await dialog.getByRole("heading", { name: "Add connection" }).evaluate((title) => {
      const { lineHeight, fontSize } = getComputedStyle(title);
      return Number.parseFloat(lineHeight) / Number.parseFloat(fontSize);
    });
    assert.ok(lineHeight > 1.3, "the lines of a long title don't touch");
    await dialog.getByLabel("API key", { exact: true }).fill(server.parts.credentials.apiKey);
    await dialog.getByRole("button", { name: "Check and add" }).click();
    await dialog.getByText("Connected to “Lindenhof Dental”", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    const row = page.getByRole("row").filter({ hasText: "Practice" });
    await row.getByText("Healthy").waitFor();
    const [added] = await listConnections(deps.db, owner);
    await row.getByText(added?.id ?? assert.fail()).waitFor();

    server.injectFault("GET /me", { reply: { status: 401, json: {} } });
    await page.getByRole("button", { name: "Test Practice" }).click();
    await dialog.getByText("The test failed.", { exact: false }).waitFor();
    await row.getByText("Not working").waitFor();
    await page.getByRole("link", { name: "Connections 1 failing", includeHidden: true }).waitFor();
    await dialog.getByRole("button", { name: "Test again" }).click();
    await dialog.getByText("This connection can read services and available times.", { exact: false }).waitFor();
    await dialog.getByText("Available times in the next 14 days", { exact: false }).waitFor();
    await dialog.getByText("Signed in as “Lindenhof Dental”, time zone Europe/Berlin.", { exact: true }).waitFor();
    await dialog
      .getByRole("listitem")
      .getByText("“Paid” is not offered: it requires payment.", { exact: true })
      .waitFor();
    assert.equal(server.bookings.length, 0);
    await dialog.getByRole("textbox", { name: "Email address for a test booking" }).fill("nonsense");
    await dialog.getByRole("button", { name: "Make a test booking" }).click();
    await dialog.getByText("This is not an email address.").waitFor();
    await dialog.getByRole("textbox", { name: "Email address for a test booking" }).fill("ada@example.com");
    await dialog.getByRole("button", { name: "Make a test booking" }).click();
    await dialog.getByText("a test appointment was booked, found and cancelled", { exact: false }).waitFor();
    assert.deepEqual(
      server.bookings.map(({ status, attendees }) => [status, attendees[0]?.email]),
      [["cancelled", "ada@example.com"]],
    );
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Edit Practice" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Annex");
    await dialog.getByRole("checkbox", { name: "Change settings and secret" }).check();
    assert.equal(await dialog.getByLabel("API key", { exact: true }).inputValue(), "", "a secret is never shown");
    await dialog.getByLabel("API key", { exact: true }).fill(server.parts.credentials.apiKey);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Connection works").waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });

    const widgetId = await makeWidget(deps.db, owner);
    const [connection] = await deps.db.selectFrom("scheduling_connections").select("id").execute();
    await updateWidget(deps.db, widgetId, { connection_id: connection?.id ?? null });
    await showScreen(page, page.url());
    await page.getByRole("button", { name: "Delete Annex" }).click();
    await dialog.getByText("Annex is in use").waitFor();
    await dialog.getByRole("link", { name: "Website" }).waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();

    await updateWidget(deps.db, widgetId, { connection_id: null });
    await showScreen(page, page.url());
    await page.getByRole("button", { name: "Delete Annex" }).click();
    // Someone assigns it to a widget again meanwhile, and the server refuses.
    await updateWidget(deps.db, widgetId, { connection_id: connection?.id ?? null });
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Widgets still use this connection", { exact: false }).waitFor();
    await dialog.getByText("Annex is in use").waitFor();
    await updateWidget(deps.db, widgetId, { connection_id: null });
    await showScreen(page, page.url());
    await page.getByRole("button", { name: "Delete Annex" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Annex deleted").waitFor();
    await page.getByText("No connections yet").waitFor();
  });

  test("a member sees connections but cannot change them; a viewer is told they have no access", async () => {
    const member = await open({ role: "member" });
    await member.getByText("No connections yet").waitFor();
    const connect = member.getByRole("button", { name: "Add connection" });
    assert.equal(await connect.getAttribute("aria-disabled"), "true");
    const viewer = await open({ role: "viewer" });
    await viewer.getByText("You don’t have access to connections").waitFor();
  });

  test("the screen is accessible, in light and dark, on desktop and phone", async () => {
    const text = "No connections yet";
    await checkLooks(dashboard, browser, [
      { path: "/connections", text },
      {
        path: "/connections",
        text,
        act: async (page) => {
          await page.getByRole("button", { name: "Add connection" }).click();
          await page.getByRole("button", { name: "Continue" }).click();
          await page.getByText("App registrations", { exact: false }).waitFor();
        },
      },
    ]);
  });
});
