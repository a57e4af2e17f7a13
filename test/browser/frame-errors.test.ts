import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page, Route } from "playwright-core";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import {
  countBooked,
  fillForm,
  goToForm,
  listSteps,
  send,
  startFrameService,
  visitPage,
  waitForBooked,
  waitForSteps,
} from "../support/browser/frame.ts";
import { updateWidget } from "../support/builders.ts";

const browser = openBrowser();
const service = await startFrameService();
const { deps, visitor } = service;

async function openForm(options: Parameters<typeof goToForm>[1] = {}) {
  const widgetId = await service.makeWidget();
  const page = await browser.share("visitor", visitor);
  await visitPage(page, `/w/${widgetId}`);
  await goToForm(page, options);
  return { page, widgetId };
}

function watchKeys(page: Page): string[] {
  const keys: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/bookings")) keys.push(request.headers()["idempotency-key"] ?? "");
  });
  return keys;
}

/** Keeps booking requests in the browser until the returned function is called. */
async function holdBookings(page: Page): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/bookings", async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** The request reaches the service; the test decides what happens to the reply. */
async function arrive(route: Route): Promise<void> {
  const request = route.request();
  await service.app.inject({
    method: "POST",
    url: new URL(request.url()).pathname,
    headers: request.headers(),
    payload: request.postData() ?? "",
  });
}

async function sendCorrected(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Back" }).click();
  await page.locator(".time").last().click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Email").fill("mara@example.com");
  await send(page);
}

describe("when something goes wrong", { skip: noBrowser }, () => {
  test("missing fields are listed, the list has the focus, and each entry leads to its field", async () => {
    const { page, widgetId } = await openForm({ service: /First appointment/ });
    await page.getByLabel("Email").fill("mara@");
    await send(page);
    const summary = page.getByRole("alert");
    await summary.getByText("Please check 3 fields").waitFor();
    assert.ok(await summary.evaluate((element) => element === document.activeElement));
    assert.deepEqual(await summary.getByRole("link").allInnerTexts(), [
      "Please enter your name.",
      "Please enter a valid email address, such as name@example.com.",
      "Please answer this question.",
    ]);
    await summary.getByRole("link", { name: "Please answer this question." }).click();
    const question = page.getByLabel("What is your appointment about?");
    assert.ok(await question.evaluate((element) => element === document.activeElement));
    assert.equal(await question.getAttribute("aria-invalid"), "true");
    assert.deepEqual(await countBooked(deps, widgetId), [0, 0]);
  });

  test("errors that only the server can find are shown at their field", async () => {
    const { page } = await openForm();
    await fillForm(page);
    await page.getByLabel("Anything we should know?").fill("x".repeat(2_001));
    await send(page);
    await page.getByRole("alert").getByRole("link", { name: "This is too long. Please shorten it." }).waitFor();
    await page.getByLabel("Anything we should know?").fill("short");
    await send(page);
    await waitForBooked(page);
  });

  test("a slot someone else took is reported and removed from the list, and the form is kept", async () => {
    const { page, widgetId } = await openForm();
    const other = await browser.open(visitor);
    await visitPage(other, `/w/${widgetId}`);
    await goToForm(other);
    await fillForm(other, { name: "First Comer" });
    await send(other);
    await waitForBooked(other);

    await fillForm(page);
    await send(page);
    const notice = page.getByRole("alert");
    await notice.getByText("Someone else just took this time").waitFor();
    assert.ok(await notice.evaluate((element) => element === document.activeElement));
    assert.equal(await page.locator(".time").first().innerText(), "09:30");
    await page.locator(".time").first().click();
    await page.getByRole("button", { name: "Continue" }).click();
    assert.equal(await page.getByLabel("Name").inputValue(), "Mara Quell");
    const heading = page.getByRole("heading", { name: "Your details" });
    assert.ok(await heading.evaluate((element) => element === document.activeElement));
    await send(page);
    await waitForBooked(page);
    assert.deepEqual(await countBooked(deps, widgetId), [2, 2]);
  });

  test("a lost reply is requested again with the same key, giving one booking", async () => {
    const { page, widgetId } = await openForm();
    const keys = watchKeys(page);
    let isLost = false;
    await page.route("**/bookings", async (route) => {
      if (isLost) return await route.continue();
      isLost = true;
      await arrive(route);
      await route.abort("connectionreset");
    });
    await fillForm(page);
    await send(page);
    await page.getByRole("alert").getByText("No connection").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await waitForBooked(page);
    assert.equal(new Set(keys).size, 1);
    assert.equal(keys.length, 2);
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
  });

  test("a visitor who corrects something after a lost reply sees what was booked, once", async () => {
    const { page, widgetId } = await openForm();
    let isLost = false;
    await page.route("**/bookings", async (route) => {
      if (isLost) return await route.continue();
      isLost = true;
      await arrive(route);
      await route.abort("connectionreset");
    });
    await fillForm(page, { email: "mara@exmaple.com" });
    await send(page);
    await page.getByRole("alert").getByText("No connection").waitFor();
    await sendCorrected(page);
    await waitForBooked(page);
    await page.getByText("mara@exmaple.com").waitFor();
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
  });

  for (const [name, title, fail] of [
    [
      "refused unread",
      "Please wait a moment",
      (route: Route) => route.fulfill({ status: 429, json: { error: { code: "rate_limited" } } }),
    ],
    ["lost", "No connection", (route: Route) => route.abort("connectionreset")],
  ] as const)
    test(`a visitor who changes a request that was ${name} gets the new time, even if the old request arrives later`, async () => {
      const { page, widgetId } = await openForm();
      let late: Route | undefined;
      await page.route("**/bookings", async (route) => {
        if (late) return await route.continue();
        late = route;
        await fail(route);
      });
      await fillForm(page, { email: "mara@exmaple.com" });
      await send(page);
      await page.getByRole("alert").getByText(title).waitFor();
      await sendCorrected(page);
      await waitForBooked(page);
      await page.getByText("mara@example.com").waitFor();
      if (name === "lost" && late) await arrive(late);
      const booked = await deps.db
        .selectFrom("bookings")
        .select(["customer_email", "start_at"])
        .where("widget_id", "=", widgetId)
        .execute();
      assert.deepEqual(booked, [{ customer_email: "mara@example.com", start_at: new Date("2026-11-02T15:30:00Z") }]);
      assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
    });

  test("a failed request is retried with a new key once the server says nothing was booked", async () => {
    const { page, widgetId } = await openForm();
    const keys = watchKeys(page);
    await fillForm(page, { email: "fail-500@example.com" });
    await send(page);
    await page.getByRole("alert").getByText("Your booking didn’t go through").waitFor();
    await page.getByLabel("Email").fill("mara@example.com");
    await page.getByRole("button", { name: "Try again" }).click();
    await waitForBooked(page);
    // The server said that nothing was booked with the first key.
    assert.equal(new Set(keys).size, 2);
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
  });

  test("while a booking is uncertain, the visitor reads it, and the frame asks again with the same key, giving one booking", async () => {
    const { page, widgetId } = await openForm();
    const keys = watchKeys(page);
    let isFirst = true;
    await page.route("**/bookings", async (route) => {
      if (!isFirst) return await route.continue();
      isFirst = false;
      await arrive(route);
      const error = { code: "booking_uncertain", message: "The booking isn't confirmed yet." };
      await route.fulfill({ status: 503, json: { error } });
    });
    await fillForm(page);
    await send(page);
    const notice = page.getByRole("alert");
    await notice.getByText("Your booking isn’t confirmed yet").waitFor();
    await notice.getByText("You won’t be booked twice.").waitFor();
    await waitForBooked(page);
    assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
  });

  test("a double click books once", async () => {
    const { page, widgetId } = await openForm();
    const keys = watchKeys(page);
    const release = await holdBookings(page);
    await fillForm(page);
    await page.getByRole("button", { name: "Book now" }).dblclick();
    await page.getByRole("button", { name: "Booking…" }).click({ force: true });
    release();
    await waitForBooked(page);
    assert.equal(keys.length, 1);
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
  });

  test("submitting again while the browser's history is rewound books once", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.open(visitor);
    await visitPage(page, `/w/${widgetId}`);
    await goToForm(page);
    const keys = watchKeys(page);
    // Browsers move in their own time, frames later, while the form is still on screen.
    await page.evaluate(() => {
      const go = history.go.bind(history);
      const submit = () => document.querySelector("form")?.requestSubmit();
      history.go = (delta) => {
        submit();
        requestAnimationFrame(() => {
          submit();
          requestAnimationFrame(() => go(delta));
        });
      };
    });
    await fillForm(page);
    await send(page);
    await waitForBooked(page);
    await page.waitForFunction(() => history.state.svc.at === 0);
    assert.equal(keys.length, 1);
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
    await waitForBooked(page);
  });

  test("while a booking is being sent, the form says so even after the visitor has gone back", async () => {
    const { page, widgetId } = await openForm();
    const release = await holdBookings(page);
    await fillForm(page);
    await send(page);
    await page.getByRole("button", { name: "Back" }).click();
    await page.locator(".time").last().click();
    await page.getByRole("button", { name: "Continue" }).click();
    const submit = page.locator("[type=submit]");
    assert.deepEqual([await submit.innerText(), await submit.getAttribute("aria-disabled")], ["Booking…", "true"]);
    release();
    await waitForBooked(page);
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
  });

  test("a widget that changed while its page was open says so until a time is chosen, and keeps the form", async () => {
    const { page } = await openForm();
    const error = { code: "widget_changed", message: "This widget was switched between test mode and live." };
    await page.route("**/bookings", (route) => route.fulfill({ status: 409, json: { error } }), { times: 1 });
    await fillForm(page);
    await send(page);
    const notice = page.getByRole("alert");
    await notice.getByText("The booking options have changed").waitFor();
    await goToForm(page);
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: /^Tuesday 3 November/ }).click();
    assert.equal(await notice.count(), 0);
    await page.locator(".time").first().click();
    await page.getByRole("button", { name: "Continue" }).click();
    await send(page);
    await waitForBooked(page);
    await page.getByRole("button", { name: "Book another appointment" }).click();
    await page.getByRole("button", { name: /Online meeting/ }).waitFor();
    assert.equal(await notice.count(), 0);
  });

  test("a widget paused while its page is open says so", async () => {
    const { page, widgetId } = await openForm();
    await updateWidget(deps.db, widgetId, { status: "paused" });
    await fillForm(page);
    await send(page);
    await page.getByRole("heading", { name: "Online booking is paused" }).waitFor();
    assert.deepEqual(await countBooked(deps, widgetId), [0, 0]);
  });

  test("a honeypot field filled in by a browser costs a person one more click", async () => {
    const { page, widgetId } = await openForm();
    await fillForm(page);
    await page.evaluate(() => {
      const trap = document.querySelector<HTMLInputElement>("[name=website]");
      if (!trap) return;
      trap.value = "https://mara.example";
      trap.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await send(page);
    await page.getByRole("alert").waitFor();
    assert.deepEqual(await countBooked(deps, widgetId), [0, 0]);
    await page.getByRole("button", { name: "Try again" }).click();
    await waitForBooked(page);
  });

  test("free times that fail to load are loaded on request", async () => {
    const page = await browser.share("visitor", visitor);
    await page.route("**/slots?*", (route) => route.abort("connectionreset"));
    await visitPage(page, `/w/${await service.makeWidget()}`);
    await page.getByRole("button", { name: /Online meeting/ }).click();
    const notice = page.getByRole("alert");
    await notice.getByText("Available times couldn’t be loaded").waitFor();
    await notice.getByText("Please check your connection and try again.").waitFor();
    await page.unroute("**/slots?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".time").first().waitFor();
  });

  test("a month that fails to load leaves the calendar on screen, and is loaded on request", async () => {
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `/w/${await service.makeWidget()}`);
    await page.getByRole("button", { name: /Online meeting/ }).click();
    await page.locator(".time").first().waitFor();
    await page.route("**/slots?*", (route) => route.abort("connectionreset"));
    const next = page.getByRole("button", { name: "Next month" });
    await next.click();
    const notice = page.getByRole("alert");
    await notice.getByText("Available times couldn’t be loaded").waitFor();
    const month = page.getByRole("heading", { name: "December 2026" });
    assert.ok(await month.isVisible());
    assert.ok(await next.evaluate((element) => element === document.activeElement));
    await page.getByRole("button", { name: "Previous month" }).click();
    await page.locator(".time").first().waitFor();
    assert.equal(await notice.count(), 0);
    await next.click();
    await page.unroute("**/slots?*");
    await notice.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: /^Tuesday 15 December.*available/ }).waitFor();
    assert.ok(await month.isVisible());
    assert.equal(await notice.count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Choose a day and a time");
  });

  test("a page that changed and then fails to load still says that it changed", async () => {
    const { page } = await openForm();
    await page.route("**/bookings", (route) =>
      route.fulfill({ status: 409, json: { error: { code: "widget_changed" } } }),
    );
    await page.route("**/config", (route) => route.abort("connectionreset"), { times: 1 });
    await fillForm(page);
    await send(page);
    const notice = page.getByRole("alert");
    await notice.getByText("This page didn’t load").waitFor();
    assert.ok(await notice.evaluate((element) => element === document.activeElement));
    await page.getByRole("button", { name: "Try again" }).click();
    await notice.getByText("The booking options have changed").waitFor();
    assert.ok(await notice.evaluate((element) => element === document.activeElement));
  });

  test("an error from the server is not blamed on the visitor's connection", async () => {
    const page = await browser.share("visitor", visitor);
    const refuse = (route: Route) => route.fulfill({ status: 503, json: { error: { code: "unavailable" } } });
    const readNotice = async () => {
      const notice = page.getByRole("alert");
      return [await notice.getByRole("heading").innerText(), await notice.locator("p").innerText()];
    };
    await page.route("**/config", refuse);
    await page.route("**/slots?*", refuse);
    await visitPage(page, `/w/${await service.makeWidget()}`);
    assert.deepEqual(await readNotice(), ["This page didn’t load", "Please try again in a moment."]);
    await page.unroute("**/config");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: /Online meeting/ }).click();
    assert.deepEqual(await readNotice(), ["Available times couldn’t be loaded", "Please try again in a moment."]);
    await page.unroute("**/slots?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".time").first().waitFor();
  });

  test("steps that can't be recorded are recorded later, and never block the visitor", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.share("visitor", visitor);
    let isDown = true;
    await page.route("**/events", (route) =>
      isDown ? route.fulfill({ status: 503, headers: { "retry-after": "5" }, body: "{}" }) : route.continue(),
    );
    await visitPage(page, `/w/${widgetId}`);
    await goToForm(page);
    assert.deepEqual(await listSteps(deps, widgetId), []);
    isDown = false;
    await page.getByLabel("Name").fill("M");
    await waitForSteps(deps, widgetId, [
      ["date_selected", "form_started", "service_selected", "slot_selected", "widget_viewed"],
    ]);
  });
});
