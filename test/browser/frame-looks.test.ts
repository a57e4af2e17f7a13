import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { TEMPLATES } from "#contract/widgets/widget.ts";
import { findAccessibilityFaults, noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { fillForm, goToForm, send, startFrameService, visitPage, waitForBooked } from "../support/browser/frame.ts";
import { updateWidget } from "../support/builders.ts";

const browser = openBrowser();
const service = await startFrameService();

async function lookAtAll(page: Page, look: (state: string) => Promise<void>): Promise<void> {
  await page.getByRole("button", { name: /Consultation/ }).click();
  await look("staff");
  await page.getByRole("button", { name: "Back" }).click();
  await look("service");
  await page.getByRole("button", { name: /Fully booked/ }).click();
  await page.getByRole("heading", { name: "No times available at the moment" }).waitFor();
  await look("no times");
  await page.getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: /First appointment/ }).click();
  await page.locator(".time").nth(2).click();
  await look("time");
  await page.getByRole("button", { name: "Continue" }).click();
  await look("form");
  await send(page);
  await page.getByRole("alert").waitFor();
  await look("form with faults");
  await page.getByLabel("What is your appointment about?").fill("A tooth");
  await fillForm(page, { email: "fail-500@example.com" });
  await send(page);
  await page.getByText("Your booking didn’t go through").waitFor();
  await look("unavailable");
  await fillForm(page, { email: "fail-slot@example.com" });
  await send(page);
  await page.getByText("Someone else just took this time").waitFor();
  await look("taken");
  await page.locator(".time").nth(3).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await fillForm(page);
  await send(page);
  await waitForBooked(page);
  await look("done");
}

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.open({ ...service.visitor, ...options });
  await visitPage(page, path);
  return page;
}

/** 320 pixels is also 200% zoom on a small phone. */
const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 720 };

/**
 * What is wrong on a small phone: the page scrolls sideways, on its own or in an iframe, in forced colours too, or the Continue
 * button below the free times is out of sight.
 */
async function findPhoneFault(page: Page): Promise<string | null> {
  await page.setViewportSize(NARROW);
  await page.emulateMedia({ forcedColors: "active" });
  const { width, isHidden } = await page.evaluate(() => {
    const root = document.documentElement;
    const widths = ["embed", "direct"].map((kind) => {
      root.dataset["page"] = kind;
      return root.scrollWidth;
    });
    scrollTo(0, 0);
    const wayOn = document.querySelector(".step-time .actions")?.getBoundingClientRect();
    return { width: Math.max(...widths), isHidden: wayOn !== undefined && wayOn.bottom > innerHeight + 1 };
  });
  await page.emulateMedia({ forcedColors: "none" });
  await page.setViewportSize(WIDE);
  if (width > NARROW.width) return `sticks out by ${width - NARROW.width} pixels`;
  return isHidden ? "Continue is out of sight" : null;
}

test("every state of every template passes axe, in light and dark, and never scrolls sideways; Continue stays in sight on a phone", {
  skip: noBrowser,
}, async () => {
  // An accent that is unreadable on white and as a background for white; accent.test.ts tries all others.
  const widgetId = await service.makeWidget({ accent: "#ffd400" });
  const page = await open(`/w/${widgetId}`, { viewport: WIDE });
  const faults: string[] = [];
  let states = 0;
  await lookAtAll(page, async (state) => {
    states += 1;
    for (const [index, template] of TEMPLATES.entries()) {
      // Templates and colour schemes differ only in their styles. The first template is checked in both schemes, the others in turn.
      await page.evaluate((name) => document.documentElement.setAttribute("data-template", name), template);
      const schemes = ["light", "dark"] as const;
      for (const colorScheme of index === 0 ? schemes : [schemes[(states + index) % 2] ?? "light"]) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-scheme=${colorScheme}]`).waitFor();
        const stylesOnly = index > 0 || colorScheme === "dark";
        const found = await findAccessibilityFaults(page, { stylesOnly });
        faults.push(...found.map((fault) => `${state}, ${template}, ${colorScheme}: ${fault}`));
      }
      const fault = await findPhoneFault(page);
      if (fault) faults.push(`${state}, ${template}: ${fault}`);
    }
  });
  assert.deepEqual(faults, []);
});

describe("the visitor's language", { skip: noBrowser }, () => {
  const headings = {
    "en-US": "What would you like to book?",
    "de-AT": "Was möchten Sie buchen?",
    "fr-CA": "Que souhaitez-vous réserver ?",
    "es-MX": "¿Qué desea reservar?",
    "pt-PT": "O que deseja marcar?",
    "pt-BR": "O que você quer agendar?",
    "ja-JP": "What would you like to book?",
  };
  test("is used if it is supported, and only its texts are loaded", async () => {
    const widgetId = await service.makeWidget();
    for (const [locale, heading] of Object.entries(headings)) {
      const page = await browser.open({ ...service.visitor, locale });
      const scripts: string[] = [];
      page.on("request", (request) => request.url().endsWith(".js") && scripts.push(request.url()));
      await visitPage(page, `/w/${widgetId}`);
      await page.getByRole("heading", { name: heading }).waitFor();
      assert.equal(await page.locator("html").getAttribute("lang"), locale === "ja-JP" ? "en" : locale);
      assert.equal(scripts.length, 2, scripts.join());
      await page.context().close();
    }
  });

  test("is the host page's before the browser's", async () => {
    const context = encodeURIComponent(JSON.stringify({ locale: "fr" }));
    const page = await open(`/embed/${await service.makeWidget()}#${context}`);
    await page.getByRole("heading", { name: headings["fr-CA"] }).waitFor();
  });
});

describe("the time zone", { skip: noBrowser }, () => {
  test("is the visitor's own, and times follow when they choose another", async () => {
    const widgetId = await service.makeWidget();
    const page = await open(`/w/${widgetId}`, { timezoneId: "America/New_York", locale: "en-US" });
    await page.getByRole("button", { name: /Online meeting/ }).click();
    const times = page.locator(".time");
    await times.first().waitFor();
    assert.equal(await page.getByLabel("Time zone").inputValue(), "America/New_York");
    assert.match(await times.first().innerText(), /^3:00\sAM$/);
    await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
    assert.match(await times.first().innerText(), /^5:00\sPM$/);
    await times.first().click();
    // The time stays the same instant, on whatever day the new zone shows it.
    await page.getByLabel("Time zone").selectOption("Pacific/Honolulu");
    assert.match(await page.locator(".picked").innerText(), /Sunday, November 1, 2026, 10:00.*10:30\sPM/);
    await page.getByRole("button", { name: "Continue" }).click();
    await fillForm(page);
    await send(page);
    await waitForBooked(page);
    assert.match(await page.locator(".facts").innerText(), /Sunday, November 1, 2026\s+10:00.*10:30\sPM \(Honolulu\)/);
  });

  test("is the business's for appointments in person if the widget locks it, and the visitor's for online ones", async () => {
    const widgetId = await service.makeWidget();
    await updateWidget(service.deps.db, widgetId, { options: '{"locksTimeZone":true}' });
    const page = await open(`/w/${widgetId}`, { timezoneId: "America/New_York", locale: "en-US" });
    await page.getByRole("button", { name: /Consultation/ }).click();
    await page.getByRole("button", { name: /Anyone available/ }).click();
    await page.locator(".time").first().click();
    await page.getByText("Time zone Berlin").waitFor();
    assert.equal(await page.getByLabel("Time zone").count(), 0);
    assert.match(await page.locator(".picked").innerText(), /9:00.*AM/);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Berlin", { exact: true }).waitFor();
    for (let back = 0; back < 3; back++) await page.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: /Online meeting/ }).click();
    await page.locator(".time").first().waitFor();
    assert.equal(await page.getByLabel("Time zone").inputValue(), "America/New_York");
  });

  test("and the calendar goes as far ahead as there are times, and says where there are none", async () => {
    const page = await open(`/w/${await service.makeWidget()}`);
    await page.getByRole("button", { name: /Online meeting/ }).click();
    await page.locator(".time").first().waitFor();
    await page.getByRole("button", { name: "Next month" }).click();
    await page.getByText("Choose a day to see available times.").waitFor();
    await page.getByRole("button", { name: /^Thursday 31 December, 8 times available/ }).click();
    await page.getByText("Times on Thursday 31 December", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Next month" }).click();
    await page.getByText("No times available in January 2027.").waitFor();
  });
});

test("a host page's theme and corners are used, and a hostile theme breaks nothing", { skip: noBrowser }, async () => {
  const widgetId = await service.makeWidget();
  const theme = { accent: "#0a7a55", mode: "dark", radius: 0 };
  const page = await open(`/embed/${widgetId}#${encodeURIComponent(JSON.stringify({ theme }))}`);
  const read = () =>
    page.evaluate(() => {
      const { style, dataset } = document.documentElement;
      return [style.getPropertyValue("--accent"), style.getPropertyValue("--radius"), dataset["scheme"]];
    });
  await page.getByRole("button", { name: /Consultation/ }).waitFor();
  assert.deepEqual(await read(), ["#0a7a55", "0px", "dark"]);
  await page.goto("about:blank");
  const hostile = { theme: { accent: "red}body{display:none", mode: {}, radius: "1px;x" }, prefill: [], service: {} };
  await page.goto(`http://book.example/embed/${widgetId}#${encodeURIComponent(JSON.stringify(hostile))}`);
  await page.getByRole("button", { name: /Consultation/ }).waitFor();
  assert.deepEqual(await read(), ["#4b45d6", "", "light"]);
  await goToForm(page);
});
