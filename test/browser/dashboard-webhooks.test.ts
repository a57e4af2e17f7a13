import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { EndpointId } from "#contract/ids.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import { addEndpoint, editEndpoint } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { startWorker } from "../../src/server/worker.ts";
import { askApp } from "../support/app/app-api.ts";
import { noAudit } from "../support/app/no-audit.ts";
import { signIn } from "../support/app/sign-in.ts";
import { noBrowser, useBrowser } from "../support/browser/browser.ts";
import { showScreen, startDashboard } from "../support/browser/dashboard.ts";
import { checkLooks } from "../support/browser/looks.ts";
import { makeWidget } from "../support/builders.ts";
import { until } from "../support/until.ts";
import {
  book,
  headerOf,
  moveClock,
  QUICK,
  readDeliveries,
  startReplying,
  verify,
} from "../support/webhooks/webhook-service.ts";

// The usual timeout: a busy machine may stop this process, and with it the receiver, for longer than the two seconds of QUICK.
const settings = { ...QUICK, webhookAllowCidrs: [...QUICK.webhookAllowCidrs], webhookTimeoutMs: 15_000 };
const dashboard = await startDashboard({ plan: "pro", settings });
const { deps, clock, organizationId: owner } = dashboard;
const business = { owner, plan: "pro" as const, widgetId: await makeWidget(deps.db, owner) };

const FOCUS_INSIDE = `document.activeElement.closest('[role="dialog"]') !== null`;
/** What has the focus: something that tells it from others, and its name. */
const READ_FOCUS = `(() => {
  const element = document.activeElement;
  window.focusKeys ??= new WeakMap();
  if (!window.focusKeys.has(element)) window.focusKeys.set(element, String(Math.random()));
  const label = element.labels?.[0]?.textContent ?? "";
  const labelledBy = document.getElementById(element.getAttribute("aria-labelledby") ?? "")?.textContent ?? "";
  const name = element.getAttribute("aria-label") || labelledBy || label || element.textContent;
  return { key: window.focusKeys.get(element), name: name.replace(/\\s*\\*$/, "").trim() };
})()`;

describe("webhooks in the dashboard", { skip: noBrowser }, () => {
  const browser = useBrowser();
  let worker: ReturnType<typeof startWorker>;
  before(() => {
    worker = startWorker(deps, []);
  });
  after(() => worker.stop());

  async function open(path: string, options: Parameters<typeof dashboard.share>[1] = {}): Promise<Page> {
    const { page } = await dashboard.share(browser, options);
    await showScreen(page, dashboard.addressOf(path));
    await page.getByRole("heading", { level: 1 }).waitFor();
    return page;
  }

  async function makeEndpoint(url: string, options: { kind?: EndpointKind; description: string }): Promise<EndpointId> {
    const { kind = "webhook", description } = options;
    const added = await addEndpoint(deps, owner, { url, kind, description }, noAudit);
    assert.ok(added.kind === "added");
    return added.id;
  }

  test("an endpoint is added with a secret that is shown once and signs deliveries", async () => {
    const receiver = await startReplying(() => ({ status: 200, body: "thank you" }));
    const page = await open("/webhooks");
    await page.getByRole("button", { name: "Add endpoint" }).click();
    const dialog = page.getByRole("dialog");
    const url = dialog.getByRole("textbox", { name: "URL" });
    const add = dialog.getByRole("button", { name: "Add endpoint" });

    await url.fill("https://10.0.0.1/hooks");
    await add.click();
    await dialog.getByText("ask the person who runs Bookflow", { exact: false }).waitFor();
    assert.equal(await url.getAttribute("aria-invalid"), "true");
    assert.equal(await page.getByRole("alert").count(), 0, "the field shows its own error");

    await url.fill(receiver.url);
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Practice software");
    await page.route("**/api/app/endpoints", (route) => route.abort(), { times: 1 });
    await add.click();
    await dialog.getByText("Can’t reach Bookflow", { exact: false }).waitFor();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/app/endpoints", (route) => isReleased.then(() => route.continue()));
    await add.click();
    // Closed now, the dialog could never show the secret.
    await dialog.getByRole("button", { name: "Cancel" }).and(page.locator(":disabled")).waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Close" }).click();
    release();
    const copy = page.locator('[aria-label="Copy signing secret"]:focus');
    await copy.waitFor();
    await page.unroute("**/api/app/endpoints");
    await page.keyboard.press("Escape");
    const secret = await dialog.locator("pre").innerText();
    assert.match(secret, /^whsec_/);
    await dialog.getByRole("button", { name: "I’ve saved it" }).click();
    await page.getByRole("heading", { level: 1, name: "Practice software" }).waitFor();

    await page.getByRole("button", { name: "Send test" }).click();
    await dialog.getByText("Test delivered").waitFor();
    await dialog.getByText(/^HTTP 200 \([\d.]+ m?s\)\.$/).waitFor();
    assert.equal(await dialog.locator("pre").innerText(), "thank you");
    const [request] = receiver.requests;
    assert.ok(request);
    assert.equal(verify(request, secret, clock.now()).signatures, 1);
    assert.equal(headerOf(request, "Service-Event"), "endpoint.test");
    await dialog.getByRole("button", { name: "Done" }).click();

    await page.getByRole("button", { name: "Rotate" }).click();
    await dialog.getByText("requests are signed with both the old and the new secret", { exact: false }).waitFor();
    assert.ok(await dialog.getByRole("radio", { name: "24 hours" }).isChecked());
    const rotations: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("secret")) rotations.push(request.url());
    });
    // Both clicks come before the dashboard can disable the button. A second rotation would end the old secret.
    await dialog.getByRole("button", { name: "Rotate" }).evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await dialog.getByText("Save the new signing secret").waitFor();
    assert.equal(rotations.length, 1, `${rotations}`);
    await copy.waitFor();
    await page.keyboard.press("Escape");
    const newSecret = await dialog.locator("pre").innerText();
    assert.notEqual(newSecret, secret);
    await dialog.getByRole("button", { name: "I’ve saved it" }).click();
    await page.getByText("The old secret stays valid until").waitFor();
    await page.getByRole("button", { name: "Send test" }).click();
    await dialog.getByText("Test delivered").waitFor();
    const signed = receiver.requests[1];
    assert.ok(signed);
    assert.equal(verify(signed, secret, clock.now()).signatures, 2);
    verify(signed, newSecret, clock.now());

    await page.reload();
    await page.getByText(`whsec_…${newSecret.slice(-4)}`).waitFor();
    const content = await page.content();
    assert.ok(!content.includes(secret) && !content.includes(newSecret));
  });

  test("filters are tried on recent events before they are saved", async () => {
    const receiver = await startReplying(() => ({ status: 200 }));
    await book(dashboard.deps, business, { service_name: "Bleaching" });
    const id = await makeEndpoint(receiver.url, { description: "Bleaching only" });
    const page = await open(`/webhooks/${id}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Filters", { exact: true }).click();
    const services = dialog.getByLabel("Services");
    await services.fill("Bleaching");
    await services.press("Enter");
    await dialog.getByRole("button", { name: "Try on recent events" }).click();
    await dialog.getByText(/^1 of the last \d+ events? would be sent\.$/).waitFor();
    await dialog.getByRole("table", { name: "Matching events" }).getByText("Bleaching").waitFor();
    await dialog.getByRole("button", { name: "Save endpoint" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Bleaching", { exact: true }).waitFor();
  });

  test("a failed test says what went wrong", async () => {
    const receiver = await startReplying(() => ({ status: 503, body: "closed for the weekend" }));
    await makeEndpoint(receiver.url, { description: "Weekender" });
    const page = await open("/webhooks");
    await page.getByRole("button", { name: "Send test to Weekender" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Test failed").waitFor();
    await dialog.getByText(/^HTTP 503 \(/).waitFor();
    await receiver.stop();
    await page.route("**/api/app/deliveries/*", (route) => route.abort());
    await dialog.getByRole("button", { name: "Send another" }).click();
    await dialog.getByText("Can’t reach Bookflow.", { exact: false }).waitFor();
    assert.equal(await dialog.getByText("Sending to", { exact: false }).count(), 0);
    await page.unroute("**/api/app/deliveries/*");
    await dialog.getByRole("button", { name: "Send another" }).click();
    await dialog.getByText(/^Connection refused \(/).waitFor();
    await dialog.getByRole("link", { name: "View in log" }).click();
    await page.getByRole("heading", { level: 1, name: "Test delivery" }).waitFor();
    await page.getByRole("button", { name: "Details of attempt 1" }).click();
    await page.getByText("Body size").waitFor();
    assert.equal(await page.getByText("Reused").count(), 0, "there was no connection");
  });

  test("an endpoint is edited, turned off and on, and deleted", async () => {
    const receiver = await startReplying(() => ({ status: 200 }));
    const id = await makeEndpoint(receiver.url, { description: "Warehouse" });
    const page = await open(`/webhooks/${id}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Old warehouse");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Old warehouse" }).waitFor();

    // Someone else is faster.
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("My warehouse");
    const url = `${receiver.url}/new`;
    const other = await signIn(dashboard, { role: "admin", organizationId: owner });
    await askApp(dashboard.app, other, `PATCH /endpoints/${id}`, { description: "Their warehouse", url });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Someone else changed this to Their warehouse.").waitFor();
    assert.equal(await dialog.getByRole("textbox", { name: "Name", exact: true }).inputValue(), "My warehouse");
    assert.equal(await dialog.getByRole("textbox", { name: "URL" }).inputValue(), url);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "My warehouse" }).waitFor();
    await page.getByText(url).first().waitFor();

    await page.getByRole("button", { name: "Turn off endpoint" }).click();
    await dialog.getByText("Queued deliveries and retries are cancelled", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Turn off endpoint" }).click();
    await page.getByText("This endpoint is off").waitFor();
    const readFocus = async () => await page.evaluate("document.activeElement.textContent");
    await until(async () => (await readFocus()) === "Turn on endpoint", "the focus is back where it was");
    const send = page.getByRole("button", { name: "Send test" });
    assert.equal(await send.getAttribute("aria-disabled"), "true");
    await send.hover();
    await page.getByText("Turn on the endpoint first.").waitFor();

    await page.getByRole("button", { name: "Turn on endpoint" }).click();
    await dialog.getByRole("button", { name: "Turn on endpoint" }).click();
    await page.getByText("My warehouse turned on").waitFor();

    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("earlier ones can no longer be redelivered", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
    await page.getByText("My warehouse deleted").waitFor();
    await page.getByRole("link", { name: "My warehouse" }).waitFor({ state: "detached" });
    await showScreen(page, dashboard.addressOf(`/webhooks/${id}`));
    await page.getByText("Endpoint not found").waitFor();
  });

  test("a delivery is followed from its first failure to its success, and redelivered", async () => {
    const receiver = await startReplying((_, count) =>
      count <= 2 ? { status: 500, body: "no room" } : { status: 200, body: "stored" },
    );
    const id = await makeEndpoint(receiver.url, { description: "Ledger" });
    const reference = await book(deps, business);
    const deliveryOf = async () =>
      (await readDeliveries(deps, owner)).find((row) => row.endpoint_id === id && row.attempt_count > 0);
    await until(async () => (await deliveryOf()) !== undefined, "the first attempt has ended");
    const page = await open(`/deliveries?endpoint=${id}`);
    const row = page.getByRole("row").filter({ hasText: reference });
    await row.getByText("Retrying").waitFor();
    await row.getByText("HTTP 500").waitFor();
    await row.getByText("Next attempt in a moment").waitFor();
    await row.getByRole("link", { name: reference }).click();
    await page.getByRole("heading", { level: 1, name: `Delivery of ${reference}` }).waitFor();
    await page.getByText("no room").waitFor();
    await page.getByRole("button", { name: "Retry now" }).waitFor();
    await page.getByRole("button", { name: "Details of attempt 1" }).click();
    await page.getByText("webhook-signature: v1,…", { exact: false }).waitFor();
    const again = page.getByRole("button", { name: "Redeliver" });

    moveClock(dashboard, 31);
    await page.getByText("Attempt 2", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Retry now" }).click();
    await page.getByText("stored", { exact: true }).waitFor();
    await page.getByText("Manual", { exact: true }).waitFor();
    await page.getByRole("status").getByText("Delivered").waitFor();
    const body = await page.locator("pre").last().innerText();
    assert.equal(JSON.parse(body).data.booking.reference, reference);
    assert.ok(body.includes("\n  "), "the body is set out in lines");

    await again.click();
    await page.getByRole("dialog").getByRole("button", { name: "Redeliver" }).click();
    await page.getByText("Attempt 4", { exact: true }).waitFor();
    await page.getByText("Manual", { exact: true }).nth(1).waitFor();
    assert.deepEqual(receiver.requests[3]?.body, receiver.requests[0]?.body);
  });

  test("a pause the receiver asked for is shown next to its failures, and can be ended by the owner", async () => {
    const receiver = await startReplying(() => ({ status: 503, headers: { "Retry-After": "3600" } }));
    const id = await makeEndpoint(receiver.url, { description: "Busy receiver" });
    await book(deps, business);
    const readDelivery = async () => (await readDeliveries(deps, owner)).find((row) => row.endpoint_id === id);
    await until(async () => (await readDelivery())?.state === "retrying", "it has answered");
    const page = await open(`/webhooks/${id}`);
    await page.getByText("Deliveries are failing").waitFor();
    await page.getByRole("link", { name: /^Webhooks \d+ failing$/ }).waitFor();
    await page.getByText("Paused by the receiver").waitFor();
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByRole("dialog").getByText("Test failed").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
    const before = receiver.requests.length;
    // A proxy's page instead of the answer.
    await page.route("**/api/app/endpoints/*/retry", (route) => route.fulfill({ body: "<html>" }), { times: 1 });
    await page.getByRole("button", { name: "Retry all now" }).click();
    await page.getByText("Something went wrong. Reload the page and try again.").waitFor();
    await page.getByRole("button", { name: "Retry all now" }).click();
    await page.getByText("Retrying 1 delivery").waitFor();
    await until(() => receiver.requests.length === before + 1, "it is sent in spite of the pause");
  });

  test("everything that failed since a given time is redelivered, with what the endpoint missed while it was off", async () => {
    let isAway = true;
    const receiver = await startReplying(() => (isAway ? { status: 404, body: "no_team" } : { body: "ok" }));
    const id = await makeEndpoint(receiver.url, { kind: "slack", description: "Front desk" });
    const references = [await book(deps, business), await book(deps, business)];
    const countIn = async (state: string) =>
      (await readDeliveries(deps, owner)).filter((row) => row.endpoint_id === id && row.state === state).length;
    await until(async () => {
      moveClock(dashboard, 1);
      return (await countIn("failed")) === 2;
    }, "both have failed");
    isAway = false;
    await editEndpoint(deps, owner, { id, isEnabled: false }, noAudit);
    references.push(await book(deps, business));
    const log = await open(`/deliveries?endpoint=${id}`);
    await log.getByRole("button", { name: "Redeliver events" }).click();
    await log.getByRole("dialog").getByRole("button", { name: "Count deliveries" }).click();
    // It is not widened to all endpoints that are on.
    await log.getByRole("dialog").getByText("Turn it on first").waitFor();
    await editEndpoint(deps, owner, { id, isEnabled: true }, noAudit);
    const page = await open(`/webhooks/${id}`);
    await page.getByRole("button", { name: "Redeliver events" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Created since").fill("2026-10-31T12:00");
    await dialog.getByRole("checkbox", { name: "Cancelled" }).check();
    await dialog.getByRole("button", { name: "Count deliveries" }).click();
    await dialog.getByText("3 deliveries will be sent again.", { exact: false }).waitFor();
    assert.equal(await countIn("delivered"), 0, "nothing is sent before it is confirmed");
    await dialog.getByRole("button", { name: "Redeliver 3 deliveries" }).click();
    await page.getByText("Redelivering 3 deliveries").waitFor();
    await until(async () => {
      moveClock(dashboard, 1);
      return (await countIn("delivered")) === 3;
    }, "all have arrived");
    for (const reference of references) {
      await page.getByRole("row").filter({ hasText: reference }).getByText("Delivered").waitFor();
    }
  });

  test("filters are kept in the URL, and older deliveries follow page by page", async () => {
    const receiver = await startReplying(() => ({ status: 200 }));
    const id = await makeEndpoint(receiver.url, { description: "Archive" });
    for (let count = 0; count < 53; count++) await book(deps, business);
    const page = await open(`/deliveries?endpoint=${id}`);
    const rows = page.getByRole("table", { name: "Deliveries" }).locator("tbody tr");
    await rows.nth(49).waitFor();
    assert.equal(await rows.count(), 50);
    await page.getByRole("button", { name: "Show older deliveries" }).click();
    await rows.nth(52).waitFor();
    assert.equal(await rows.count(), 53);

    await page.getByRole("combobox", { name: "Status" }).click();
    await page.getByRole("option", { name: "Failed" }).click();
    await page.getByText("No matches").waitFor();
    assert.equal(new URL(page.url()).search, `?endpoint=${id}&state=failed`);
    await page.goBack();
    await rows.first().waitFor();
    assert.equal(new URL(page.url()).search, `?endpoint=${id}`);
    await showScreen(page, dashboard.addressOf(`/deliveries?endpoint=${id}&time=between&to=2026-10-31T00:00`));
    await page.getByText("No matches").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await rows.first().waitFor();
  });

  test("a viewer sees neither bodies nor replies, and is told why actions are disabled", async () => {
    const [delivery] = (await readDeliveries(deps, owner)).filter(({ state }) => state === "delivered");
    assert.ok(delivery);
    const page = await open(`/deliveries/${delivery.id}`, { role: "viewer" });
    await page.getByText("Viewers can’t see the body", { exact: false }).waitFor();
    const content = await page.content();
    assert.ok(!content.includes("mara.quell@example.com") && !content.includes("thank you"));
    // The reason is shown to someone who comes by keyboard.
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Redeliver" }).focus();
    await page.getByText("Viewers can’t do this", { exact: false }).waitFor();
    await showScreen(page, dashboard.addressOf("/webhooks"));
    await page.getByRole("link", { name: "Practice software" }).click();
    await page.getByRole("heading", { level: 1, name: "Practice software" }).waitFor();
    assert.ok(!(await page.content()).includes("/hooks"), "the path of a URL may hold a password");
    assert.equal(await page.getByRole("button", { name: "Delete" }).getAttribute("aria-disabled"), "true");
  });

  test("without the plan everything stays visible, with the reason", async () => {
    const { page, person } = await dashboard.share(browser);
    const { id, address } = await dashboard.addOrganization(person, { plan: "free" });
    await showScreen(page, `${address}/webhooks`);
    await page.getByText("Your plan doesn’t include webhooks").waitFor();
    await page.getByText(`npm run bookflow -- org set ${id} --plan pro`).waitFor();
    await page.getByText("Available on the Pro and Business plans.", { exact: false }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Add endpoint" }).getAttribute("aria-disabled"), "true");
  });

  /** Opens a dialog by keyboard, goes through all of it with Tab, closes it with Escape, and returns what had the focus. */
  async function walkDialog(page: Page, opener: Locator): Promise<string[]> {
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await until(async () => (await page.evaluate(FOCUS_INSIDE)) === true, "the dialog has the focus");
    const seen = new Map<string, string>();
    for (let count = 0; count < 60; count++) {
      await page.keyboard.press("Tab");
      const { key, name } = (await page.evaluate(READ_FOCUS)) as { key: string; name: string };
      assert.equal(await page.evaluate(FOCUS_INSIDE), true, `${name} is outside the dialog`);
      assert.notEqual(name, "", `everything has a name, also after ${[...seen.values()].at(-1)}`);
      // A date field has several parts, so it may still have the focus.
      if (seen.has(key) && [...seen.keys()].at(-1) !== key) break;
      seen.set(key, name);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const text = await opener.textContent();
    const isBack = async () => (await page.evaluate("document.activeElement.textContent")) === text;
    await until(isBack, `the focus is back at ${text}`);
    // The focus starts at the first field; the dialog itself starts with its close button.
    const names = [...seen.values()];
    const top = names.findIndex((name) => name.startsWith("Close"));
    assert.ok(top >= 0, `${names}`);
    return [...names.slice(top), ...names.slice(0, top)];
  }

  test("every dialog can be used with the keyboard alone", async () => {
    const receiver = await startReplying(() => ({ status: 200 }));
    const id = await makeEndpoint(receiver.url, { description: "Keyboard" });
    await book(deps, business);
    const findDelivery = async () => (await readDeliveries(deps, owner)).find((row) => row.endpoint_id === id);
    await until(async () => (await findDelivery())?.state === "delivered", "something was delivered");
    const page = await open("/webhooks");
    const button = (name: string) => page.getByRole("main").getByRole("button", { name, exact: true });
    const add = await walkDialog(page, button("Add endpoint"));
    assert.deepEqual([add.includes("URL"), add.includes("Name"), add.at(-1)], [true, true, "Add endpoint"]);
    await showScreen(page, dashboard.addressOf(`/webhooks/${id}`));
    await button("Send test").waitFor();
    for (const [name, last] of [
      ["Edit endpoint", "Cancel"],
      ["Rotate secret", "Rotate secret"],
      ["Turn off endpoint", "Turn off endpoint"],
      ["Redeliver events", "Count deliveries"],
      ["Delete endpoint", "Delete endpoint"],
    ] as const)
      assert.equal((await walkDialog(page, button(name))).at(-1), last, name);
    await showScreen(page, dashboard.addressOf(`/deliveries/${(await findDelivery())?.id}`));
    assert.equal((await walkDialog(page, button("Redeliver event"))).at(-1), "Redeliver event");
  });

  test("every screen is accessible, in light and dark, on desktop and phone", async () => {
    const deliveries = await readDeliveries(deps, owner);
    const failing = deliveries.find(({ last_status }) => last_status === 503);
    assert.ok(failing);
    const { id, endpoint_id } = failing;
    const text = "Weekender";
    await checkLooks(dashboard, browser, [
      { path: "/webhooks", text },
      { path: `/webhooks/${endpoint_id}`, text },
      { path: "/deliveries?state=failed", text },
      { path: `/deliveries/${id}`, text },
    ]);
  });
});
