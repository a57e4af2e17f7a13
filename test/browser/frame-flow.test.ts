import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import {
  countBooked,
  fillForm,
  goToForm,
  listSteps,
  SERVICE,
  send,
  startFrameService,
  visitPage,
  waitForBooked,
  waitForSteps,
} from "../support/browser/frame.ts";
import { toPage } from "../support/browser/host-site.ts";
import { updateWidget } from "../support/builders.ts";

const ALL_STEPS = [
  "booking_completed",
  "date_selected",
  "form_started",
  "service_selected",
  "slot_selected",
  "widget_viewed",
];
const SITE = "http://www.lindenhof.example";

const browser = openBrowser();
const service = await startFrameService();
const { deps, web, visitor } = service;

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

function readFocus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? "";
  });
}

/** A customer's page with the frame in it, as the loader would insert it; it records the frame's messages. */
function showFrame(widgetId: string, context: object, above = ""): void {
  const fragment = encodeURIComponent(JSON.stringify({ frame: "f1", hostOrigin: SITE, ...context }));
  web.addSite(new URL(SITE).host, {
    "/": toPage(
      `${above}<iframe title="Booking" src="${SERVICE}/embed/${widgetId}#${fragment}" width="700" height="700"></iframe>`,
      {
        head: `<script>window.heard = []; addEventListener("message", (event) => heard.push([event.origin, event.data]));</script>`,
      },
    ),
  });
}

type Heard = [origin: string, message: { type: string } & Record<string, unknown>][];
const readHeard = (page: Page) => page.evaluate("heard") as Promise<Heard>;

function tellFrame(page: Page, message: object): Promise<void> {
  return page.evaluate(
    ([data, target]) => document.querySelector("iframe")?.contentWindow?.postMessage(data, target as string),
    [{ svc: 1, frame: "f1", ...message }, SERVICE] as const,
  );
}

describe("a visitor books", { skip: noBrowser }, () => {
  test("on the direct page, and everything is stored, counted and shown correctly", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.share("visitor", visitor);
    const errors = await visitPage(page, `/w/${widgetId}?utm_source=google&utm_medium=cpc&gclid=X`);
    await goToForm(page, { service: /First appointment/, time: 1 });
    await fillForm(page);
    await page.getByLabel("What is your appointment about?").fill("A tooth");
    await page.getByLabel("How did you hear about us?").selectOption("A friend");
    await page.getByLabel("Anything we should know?").fill("Second floor");
    await send(page);
    const reference = await waitForBooked(page);

    const stored = await deps.db
      .selectFrom("bookings")
      .selectAll()
      .where("reference", "=", reference as never)
      .execute();
    assert.deepEqual(
      stored.map(({ start_at, time_zone, customer_name, customer_notes }) => [
        start_at,
        time_zone,
        customer_name,
        customer_notes,
      ]),
      [[new Date("2026-11-02T08:30:00.000Z"), "Europe/Berlin", "Mara Quell", "Second floor"]],
    );
    const attribution = stored[0]?.attribution as unknown as Record<string, string>;
    assert.deepEqual(
      [attribution["utmSource"], attribution["gclid"], attribution["channel"]],
      ["google", "X", "Paid Search"],
    );
    await waitForSteps(deps, widgetId, [ALL_STEPS]);
    assert.match(await page.locator(".facts").innerText(), /Monday, 2 November 2026\s+09:30–10:30 \(Berlin\)/);
    assert.match(
      (await page.getByRole("link", { name: "Cancel test booking" }).getAttribute("href")) ?? "",
      /\/manage\//,
    );
    assert.deepEqual(errors, []);
  });

  test("and gets a link to cancel beside the one to change the time, if the scheduling system has two", async () => {
    const page = await browser.open(visitor);
    const cancelUrl = "https://scheduler.example/cancel/1";
    // The sandbox has one page for both, so its answer gets a second link on the way to the frame.
    await page.addInitScript((url) => {
      const { fetch } = window;
      window.fetch = async (...given) => {
        const response = await fetch(...given);
        if (!response.url.endsWith("/bookings")) return response;
        return Response.json({ ...(await response.json()), cancelUrl: url }, { status: response.status });
      };
    }, cancelUrl);
    await visitPage(page, `/w/${await service.makeWidget()}`);
    await goToForm(page);
    await fillForm(page);
    await send(page);
    await waitForBooked(page);
    assert.equal(await page.getByRole("link", { name: "Cancel appointment" }).getAttribute("href"), cancelUrl);
  });

  test("and downloads the appointment as a calendar file", async () => {
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `/w/${await service.makeWidget()}`);
    await goToForm(page);
    await fillForm(page);
    await send(page);
    const reference = await waitForBooked(page);
    assert.match((await page.getByRole("link", { name: "Join the meeting" }).getAttribute("href")) ?? "", /\/meet\//);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Add to calendar" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `${reference}.ics`);
    const file = await readFile(await download.path(), "utf8");
    assert.match(file, new RegExp(`\\r\\nUID:${reference}@book\\.example\\r\\n`));
    assert.match(
      file,
      /\r\nDTSTART:20261102T080000Z\r\nDTEND:20261102T083000Z\r\nSUMMARY:Test: Online meeting \(sample\) – Lindenhof\r\n/,
    );
  });

  test("by keyboard alone, with each step's heading read out first", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `/w/${widgetId}`);
    await page.getByRole("button", { name: /Consultation/ }).waitFor();
    await press(page, "Tab", "Enter");
    await page.getByRole("heading", { name: "Who would you like to see?" }).waitFor();
    assert.equal(await readFocus(page), "Who would you like to see?");
    await press(page, "Tab", "Tab", "Enter");
    await page.locator(".time").first().waitFor();
    assert.equal(await readFocus(page), "Choose a day and a time");
    // Past the month buttons into the grid: one tab stop, on the first free day.
    await press(page, "Tab", "Tab", "Tab");
    assert.match(await readFocus(page), /^Monday 2 November, 16 times available$/);
    await press(page, "ArrowRight", "ArrowDown", "Home");
    assert.match(await readFocus(page), /^Monday 9 November/);
    await press(page, "End", "ArrowUp");
    assert.equal(await readFocus(page), "Sunday 8 November");
    await press(page, "PageDown");
    await page.getByRole("heading", { name: "December 2026" }).waitFor();
    assert.match(await readFocus(page), /^Tuesday 8 December/);
    await press(page, "PageUp", "ArrowLeft", "ArrowLeft", "Enter");
    await page.getByText("Times on Friday 6 November", { exact: true }).waitFor();
    await press(page, "Tab", "Space", "ArrowDown", "Tab", "Tab", "Enter");
    await page.getByRole("heading", { name: "Your details" }).waitFor();
    await press(page, "Tab");
    await page.keyboard.type("Mara Quell");
    await press(page, "Tab");
    await page.keyboard.type("mara@example.com");
    assert.equal(await page.getByLabel("Email").inputValue(), "mara@example.com");
    await press(page, "Enter");
    await waitForBooked(page);
    assert.equal(await readFocus(page), "Test booking complete");
    assert.match(await page.locator(".facts").innerText(), /Friday, 6 November 2026\s+09:30–10:00/);
    assert.deepEqual(await countBooked(deps, widgetId), [1, 1]);
  });

  test("in a frame on another site, which is told what it needs and nothing personal", async () => {
    const widgetId = await service.makeWidget();
    showFrame(widgetId, {
      service: "online-meeting",
      prefill: { name: "Mara Quell", email: "mara@example.com" },
      attribution: { utmSource: "newsletter", currentPage: `${SITE}/` },
    });
    const page = await browser.share("visitor", visitor);
    const errors = await visitPage(page, `${SITE}/`);
    const frame = page.frameLocator("iframe");
    await frame.locator(".time").first().click();
    await frame.getByRole("button", { name: "Continue" }).click();
    assert.equal(await frame.getByLabel("Email").inputValue(), "mara@example.com");
    await send(frame);
    const reference = await waitForBooked(frame);
    await page.waitForFunction("heard.some(([, data]) => data.type === 'booked')");
    const heard = await readHeard(page);
    assert.ok(heard.every(([origin, { svc, frame: name }]) => origin === SERVICE && svc === 1 && name === "f1"));
    assert.deepEqual(heard.find(([, { type }]) => type === "booked")?.[1], {
      svc: 1,
      frame: "f1",
      type: "booked",
      reference,
      serviceName: "Online meeting (sample)",
      start: "2026-11-02T08:00:00.000Z",
    });
    assert.deepEqual(
      heard.flatMap(([, { type, name }]) => (type === "step" ? [name] : [])),
      // The host page filled in the form, so the visitor has not started it.
      ["widget_viewed", "service_selected", "date_selected", "slot_selected"],
    );
    const heights = heard.flatMap(([, { type, height }]) => (type === "resize" ? [height as number] : []));
    assert.ok(heights.length > 1 && heights.every((height) => height >= 200 && height <= 4000), heights.join());
    assert.doesNotMatch(JSON.stringify(heard), /mara|quell/i);
    assert.deepEqual(errors, []);
  });

  test("a frame nobody has scrolled to is not a visit, even with its service chosen", async () => {
    const widgetId = await service.makeWidget();
    showFrame(widgetId, { service: "fully-booked" }, '<div style="height: 4000px"></div>');
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `${SITE}/`);
    const frame = page.frameLocator("iframe");
    await frame.getByRole("heading", { name: "No times available at the moment" }).waitFor();
    await page.frames()[1]?.evaluate(async () => {
      // Browsers tell observers in the order in which they began.
      await new Promise((resolve) => new IntersectionObserver(resolve).observe(document.body));
      parent.postMessage({ type: "observed" }, "*");
    });
    await page.waitForFunction("heard.some(([, data]) => data.type === 'observed')");
    assert.deepEqual(
      (await readHeard(page)).filter(([, { type }]) => type === "step"),
      [],
    );
    await page.locator("iframe").scrollIntoViewIfNeeded();
    await waitForSteps(deps, widgetId, [["no_availability", "service_selected", "widget_viewed"]]);
  });

  test("and the host page changes the theme and service later; another page changes nothing", async () => {
    const widgetId = await service.makeWidget();
    showFrame(widgetId, { mode: "popup" });
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `${SITE}/`);
    const frame = page.frameLocator("iframe");
    await frame.getByRole("button", { name: /Consultation/ }).waitFor();
    const tell = (message: object) => tellFrame(page, message);
    await tell({ frame: "f2", service: "online-meeting" });
    await tell({ theme: { mode: "dark", accent: "#ffd400" } });
    await frame.locator("html[data-scheme=dark]").waitFor();
    assert.equal(await frame.getByRole("button", { name: /Consultation/ }).count(), 1);
    await tell({ service: "online-meeting", prefill: { name: "Mara" } });
    await frame.locator(".time").first().waitFor();
    await frame.getByRole("button", { name: "Close" }).click();
    await frame.locator("body").press("Escape");
    await page.waitForFunction("heard.filter(([, data]) => data.type === 'close').length === 2");
  });

  test("and what the host page says about the visitor's source while the frame is loading is used", async () => {
    showFrame(await service.makeWidget(), { attribution: { utmSource: "google", gclid: "X" } });
    const page = await browser.share("visitor", visitor);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/config", async (route) => {
      await released;
      await route.continue();
    });
    await visitPage(page, `${SITE}/`);
    await page.waitForFunction("heard.some(([, data]) => data.type === 'ready')");
    await tellFrame(page, { attribution: { utmSource: "google" } });
    const sent = page.waitForRequest("**/events");
    release();
    const { attribution } = (await sent).postDataJSON() as { attribution: object };
    assert.deepEqual(attribution, { utmSource: "google" });
  });

  test("with storage blocked", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.open(visitor);
    await page.addInitScript(() =>
      Object.defineProperty(window, "sessionStorage", {
        get() {
          throw new DOMException("blocked", "SecurityError");
        },
      }),
    );
    await visitPage(page, `/w/${widgetId}`);
    await goToForm(page);
    await fillForm(page);
    await send(page);
    await waitForBooked(page);
    await waitForSteps(deps, widgetId, [ALL_STEPS]);
  });

  test("again, as a new visit, with nothing left from the first", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `/w/${widgetId}`);
    for (const time of ["09:00", "09:30"]) {
      await goToForm(page);
      assert.match(await page.locator(".summary").innerText(), new RegExp(`${time}–`));
      assert.equal(await page.getByLabel("Name").inputValue(), "");
      await fillForm(page);
      await send(page);
      await waitForBooked(page);
      if (time === "09:00") await page.getByRole("button", { name: "Book another appointment" }).click();
    }
    await waitForSteps(deps, widgetId, [ALL_STEPS, ALL_STEPS]);
    assert.deepEqual(await countBooked(deps, widgetId), [2, 2]);
  });

  test("and a reload in between is the same visit, with each step counted once", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.share("visitor", visitor);
    // The loader sends this only if something may be stored.
    const context = JSON.stringify({ attribution: { firstSeenAt: "2026-11-01T12:00:00.000Z" } });
    await visitPage(page, `/embed/${widgetId}#${encodeURIComponent(context)}`);
    await page.getByRole("button", { name: /Online meeting/ }).click();
    await page.locator(".time").first().waitFor();
    await page.reload();
    await goToForm(page);
    await fillForm(page);
    await send(page);
    await waitForBooked(page);
    await waitForSteps(deps, widgetId, [ALL_STEPS]);
  });
});

describe("a visitor cannot book", { skip: noBrowser }, () => {
  test("while the widget is paused, and is told where else to go; no visit is counted", async () => {
    const widgetId = await service.makeWidget({ bookingUrl: "https://scheduler.example/lindenhof" });
    await updateWidget(deps.db, widgetId, { status: "paused" });
    const page = await browser.share("visitor", visitor);
    const errors = await visitPage(page, `/embed/${widgetId}`);
    await page.getByRole("heading", { name: "Online booking is paused" }).waitFor();
    const link = page.getByRole("link", { name: "Book another way" });
    assert.equal(await link.getAttribute("href"), "https://scheduler.example/lindenhof");
    assert.deepEqual(await listSteps(deps, widgetId), []);
    assert.deepEqual(errors, []);
  });

  test("a service without free times, which is counted once", async () => {
    const widgetId = await service.makeWidget();
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `/w/${widgetId}`);
    for (const _ of [1, 2]) {
      await page.getByRole("button", { name: /Fully booked/ }).click();
      await page.getByRole("heading", { name: "No times available at the moment" }).waitFor();
      await page.getByRole("button", { name: "Choose another service" }).click();
    }
    await page.getByRole("button", { name: /Online meeting/ }).click();
    await page.locator(".time").first().waitFor();
    await waitForSteps(deps, widgetId, [["no_availability", "service_selected", "widget_viewed"]]);
  });

  test("a widget that does not exist, and is told so in their language", async () => {
    const page = await browser.open({ ...visitor, locale: "de-DE" });
    await visitPage(page, "/w/w_111111111111");
    await page.getByRole("heading", { name: "Buchungsseite nicht gefunden" }).waitFor();
  });

  test("on a page whose domain the widget does not allow", async () => {
    const widgetId = await service.makeWidget();
    showFrame(widgetId, {});
    const page = await browser.share("visitor", visitor);
    await updateWidget(deps.db, widgetId, { allowed_domains: ["other.example"] });
    await visitPage(page, `${SITE}/`);
    assert.equal(
      await page
        .frameLocator("iframe")
        .getByRole("button", { name: /Consultation/ })
        .count(),
      0,
    );
    await updateWidget(deps.db, widgetId, { allowed_domains: ["other.example", "*.lindenhof.example"] });
    await page.reload();
    await page
      .frameLocator("iframe")
      .getByRole("button", { name: /Consultation/ })
      .waitFor();
  });
});
