import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Frame, Page } from "playwright-core";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { createEmbedded, findFrame, SERVICE, SITE, toScript, watchErrors } from "../support/browser/embedded.ts";
import { countBooked, fillForm, goToForm, send, waitForBooked } from "../support/browser/frame.ts";
import { toPage } from "../support/browser/host-site.ts";
import { NOON } from "../support/builders.ts";
import { until } from "../support/until.ts";

// The browser's Back and Forward during a booking, on a website with its own history.

const browser = openBrowser();
const { web, widgetId, visitor, deps } = await createEmbedded({ rateLimitBookingsPerMinute: 0 });
const BEFORE = `${SITE}/before`;
const HEADINGS = {
  service: "What would you like to book?",
  time: "Choose a day and a time",
  form: "Your details",
  done: "Test booking complete",
};

/** A page with a router: it counts navigation events, and has navigated once by itself. */
const ROUTER = `<script>
  moves = 0;
  addEventListener("popstate", () => moves++);
  if (!history.state) {
    history.replaceState({ route: 1 }, "", "/book?route=1");
    history.pushState({ route: 2 }, "", "/book?route=2");
  }
</script>`;
const INLINE = `<svc-booking widget="${widgetId}"></svc-booking>`;
const BUTTON = `<button id="book" data-svc-open="${widgetId}">Book</button>`;

async function visit(body: string): Promise<{ page: Page; errors: string[] }> {
  web.addSite(new URL(SITE).host, {
    "/before": toPage("<p>Before.</p>"),
    "/book": toPage(ROUTER + body, { head: toScript() }),
    "/thanks": toPage("<p>Thanks.</p>"),
  });
  const page = await browser.open(visitor);
  const errors = watchErrors(page);
  await page.clock.setFixedTime(NOON);
  await page.goto(BEFORE);
  await page.goto(`${SITE}/book`);
  await page.waitForFunction("customElements.get('svc-booking')");
  return { page, errors };
}

/** The tab's position in its history, and the history's entries. */
async function readHistory(page: Page): Promise<{ currentIndex: number; entries: { id: number }[] }> {
  const session = await page.context().newCDPSession(page);
  const history = await session.send("Page.getNavigationHistory");
  await session.detach();
  return history;
}

async function waitForIndex(page: Page, index: number): Promise<void> {
  await until(async () => (await readHistory(page)).currentIndex === index, `the browser is at entry ${index}`);
}

/** Navigates like the browser's own buttons, which know nothing about frames. */
async function go(page: Page, delta: 1 | -1): Promise<void> {
  const { currentIndex, entries } = await readHistory(page);
  const entry = entries[currentIndex + delta];
  assert.ok(entry, "there is no history entry to go to");
  const session = await page.context().newCDPSession(page);
  await session.send("Page.navigateToHistoryEntry", { entryId: entry.id });
  await session.detach();
}

async function see(view: Page | Frame, step: keyof typeof HEADINGS): Promise<void> {
  await view.getByRole("heading", { name: HEADINGS[step] }).waitFor();
}

async function seePopupGone(page: Page): Promise<void> {
  await page.waitForFunction("!document.querySelector('[data-svc=popup]')");
}

/** The page's own position in its history, and how often it was told to navigate. */
function readHost(page: Page): Promise<unknown> {
  return page.evaluate("[location.href, history.state, moves]");
}
const UNTOUCHED = [`${SITE}/book?route=2`, { route: 2 }, 0];

describe("Back on the booking page", { skip: noBrowser }, () => {
  async function open(): Promise<Page> {
    const { page } = await visit("");
    await page.goto(`${SERVICE}/w/${widgetId}`);
    return page;
  }
  const leave = async (page: Page) => await page.waitForURL(`${SITE}/book?route=2`);

  test("goes one step back, Forward one step on, and leaves from the first step, however it was reached", async () => {
    const page = await open();
    await goToForm(page);
    await page.getByLabel("Name").fill("Mara");
    await go(page, -1);
    await see(page, "time");
    assert.equal(await page.locator(".time input:checked").count(), 1);
    await go(page, 1);
    await see(page, "form");
    assert.equal(await page.getByLabel("Name").inputValue(), "Mara");
    for (const step of ["time", "service"] as const) {
      await go(page, -1);
      await see(page, step);
    }

    // The frame's own Back button is a step too.
    await goToForm(page);
    await page.getByRole("button", { name: "Back" }).click();
    await see(page, "time");
    await go(page, -1);
    await see(page, "service");
    await goToForm(page);
    for (const step of ["time", "service"] as const) {
      await page.getByRole("button", { name: "Back" }).click();
      await see(page, step);
    }

    // A reload starts over.
    await goToForm(page);
    await page.reload();
    await see(page, "service");
    assert.equal(page.url(), `${SERVICE}/w/${widgetId}`);
    await go(page, -1);
    await leave(page);
  });

  test("Forward does not lead to the form without a chosen time", async () => {
    const page = await open();
    await goToForm(page);
    await go(page, -1);
    await see(page, "time");
    await page.getByRole("button", { name: /^Tuesday 3 November/ }).click();
    await go(page, 1);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Please choose a time").waitFor();
    await see(page, "time");
  });

  test("leads away from a finished booking, and nothing is booked again", async () => {
    const page = await open();
    const before = await countBooked(deps, widgetId);
    await goToForm(page);
    await fillForm(page);
    await send(page);
    await waitForBooked(page);
    await page.waitForFunction("history.state.svc.at === 0");
    await go(page, 1);
    await page.waitForFunction("history.state.svc.at === 1");
    await see(page, "done");
    await go(page, -1);
    await leave(page);
    assert.deepEqual(
      await countBooked(deps, widgetId),
      before.map((count) => count + 1),
    );
  });
});

describe("Back with an inline widget", { skip: noBrowser }, () => {
  test("goes back in the widget first, then in the page, whose own history is untouched", async () => {
    const { page, errors } = await visit(INLINE);
    const frame = await findFrame(page);
    await goToForm(frame);
    assert.deepEqual(await readHost(page), UNTOUCHED);
    for (const step of ["time", "service"] as const) {
      await go(page, -1);
      await see(frame, step);
    }
    assert.deepEqual(await readHost(page), UNTOUCHED);
    await go(page, -1);
    await page.waitForFunction("moves === 1");
    assert.deepEqual(await readHost(page), [`${SITE}/book?route=1`, { route: 1 }, 1]);
    assert.deepEqual(errors, []);
  });

  test("after a booking leads to where the visitor was before, even from the thank-you page", async () => {
    const thank = `<script>
      window.svc = window.svc || function () { (svc.q = svc.q || []).push(arguments) };
      svc("on", "booked", () => document.body.append("Told."));
    </script>`;
    const { page } = await visit(thank + INLINE);
    const frame = await findFrame(page);
    await goToForm(frame);
    await fillForm(frame);
    await send(frame);
    await waitForBooked(frame);
    await page.getByText("Told.").waitFor();
    assert.deepEqual(await readHost(page), UNTOUCHED);
    await page.evaluate("location.assign('/thanks')");
    await page.getByText("Thanks.").waitFor();
    await go(page, -1);
    await page.waitForURL(`${SITE}/book?route=2`);
    await go(page, -1);
    await page.waitForURL(`${SITE}/book?route=1`);
  });

  test("a page that navigates meanwhile is not moved back by a booking or by the widget's Back button", async () => {
    const { page } = await visit(INLINE);
    const frame = await findFrame(page);
    await goToForm(frame);
    await frame.getByRole("button", { name: "Back" }).click();
    await see(frame, "time");
    await page.evaluate("history.pushState({ route: 3 }, '', '/book?route=3')");
    const moved = [`${SITE}/book?route=3`, { route: 3 }, 0];
    await frame.getByRole("button", { name: "Back" }).click();
    await see(frame, "service");
    assert.deepEqual(await readHost(page), moved);
    await goToForm(frame, { time: 2 });
    await fillForm(frame);
    await send(frame);
    await waitForBooked(frame);
    assert.deepEqual(await readHost(page), moved);
  });
});

describe("Back with the widget in a popup", { skip: noBrowser }, () => {
  async function open(): Promise<{ page: Page; frame: Frame; errors: string[] }> {
    const { page, errors } = await visit(BUTTON);
    await page.locator("#book").click();
    return { page, frame: await findFrame(page), errors };
  }

  test("goes one step back, and closes the popup at the first step", async () => {
    const { page, frame, errors } = await open();
    await goToForm(frame);
    for (const step of ["time", "service"] as const) {
      await go(page, -1);
      await see(frame, step);
    }
    await go(page, -1);
    await seePopupGone(page);
    assert.equal(await page.evaluate("document.activeElement.id"), "book");
    assert.deepEqual(await readHost(page), UNTOUCHED);
    assert.deepEqual(errors, []);
  });

  test("belongs to the page again once the popup is closed by its button or Esc", async () => {
    const { page } = await visit(BUTTON);
    const { currentIndex } = await readHistory(page);
    for (const close of [
      (frame: Frame) => frame.getByRole("button", { name: "Close" }).click(),
      // Twice, as when a key is held down.
      (frame: Frame) =>
        frame.evaluate(`for (const _ of [1, 2]) dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))`),
    ]) {
      await page.locator("#book").click();
      const frame = await findFrame(page);
      await goToForm(frame);
      await frame.getByRole("button", { name: "Back" }).click();
      await see(frame, "time");
      await close(frame);
      await seePopupGone(page);
      await waitForIndex(page, currentIndex);
    }
    assert.deepEqual(await readHost(page), UNTOUCHED);
    // Forward leads to where the popup was, and doesn't reopen it.
    await go(page, 1);
    await waitForIndex(page, currentIndex + 1);
    assert.deepEqual(await readHost(page), UNTOUCHED);
    await go(page, -1);
    await waitForIndex(page, currentIndex);
    await go(page, -1);
    await page.waitForFunction("moves === 1");
    assert.deepEqual(await readHost(page), [`${SITE}/book?route=1`, { route: 1 }, 1]);
  });

  test("closes the popup after the booking, and nothing is booked again", async () => {
    const { page, frame } = await open();
    const before = await countBooked(deps, widgetId);
    await goToForm(frame, { time: 4 });
    await fillForm(frame);
    await send(frame);
    await waitForBooked(frame);
    await go(page, -1);
    await seePopupGone(page);
    assert.deepEqual(await readHost(page), UNTOUCHED);
    assert.deepEqual(
      await countBooked(deps, widgetId),
      before.map((count) => count + 1),
    );
  });

  test("closes a popup that says its widget does not exist", async () => {
    const { page } = await visit(BUTTON.replace(widgetId, "w_nope"));
    for (const close of [() => go(page, -1), (frame: Frame) => frame.getByRole("button", { name: "Close" }).click()]) {
      await page.locator("#book").click();
      const frame = await findFrame(page);
      await frame.getByRole("button", { name: "Close" }).waitFor();
      await close(frame);
      await seePopupGone(page);
    }
    assert.deepEqual(await readHost(page), UNTOUCHED);
  });
});
