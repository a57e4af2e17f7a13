import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BrowserContextOptions, Frame, Page } from "playwright-core";
import { findAccessibilityFaults, noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import {
  createEmbedded,
  findFrame,
  listAccessible,
  openVisitor,
  readContexts,
  SERVICE,
  SITE,
  toScript,
  waitForButton,
  waitForContexts,
  watchErrors,
} from "../support/browser/embedded.ts";
import { toPage } from "../support/browser/host-site.ts";
import { makeWidget, updateWidget } from "../support/builders.ts";

const browser = openBrowser();
const { web, widgetId, visitor, deps, owner } = await createEmbedded();
const STUB = "<script>window.svc=window.svc||function(){(svc.q=svc.q||[]).push(arguments)}</script>";
const BUTTON = `<p style="height:1500px">Welcome.</p><button id="book" data-svc-open="${widgetId}" data-svc-service="online-meeting">Book</button>`;

async function visit(
  body: string,
  pageOptions: Parameters<typeof toPage>[1] = {},
  options: BrowserContextOptions | null = null,
): Promise<{ page: Page; errors: string[] }> {
  web.addSite(new URL(SITE).host, {
    "/": toPage(body, { head: toScript(`data-widget="${widgetId}"`), ...pageOptions }),
  });
  const page = options ? await browser.open({ ...visitor, ...options }) : await openVisitor(browser, visitor);
  const errors = watchErrors(page);
  await page.goto(`${SITE}/`);
  await page.waitForFunction("customElements.get('svc-booking')");
  return { page, errors };
}

async function isGone(page: Page): Promise<void> {
  await page.waitForFunction("!document.querySelector('[data-svc=popup]')");
  while (readContexts(page).length > 0) await page.waitForEvent("framedetached");
}

function readBox(frame: Frame, selector: string): Promise<DOMRect> {
  return frame.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON());
}

function readStyle(frame: Frame, name: "animationName" | "borderRadius" | "overscrollBehaviorY"): Promise<string> {
  return frame.locator("#frame").evaluate((element, property) => getComputedStyle(element)[property], name);
}

describe("the popup", { skip: noBrowser }, () => {
  test("opens from any element, with the service it names, locks the page behind it and restores everything", async () => {
    const { page, errors } = await visit(BUTTON);
    await page.locator("#book").click();
    await findFrame(page);
    const [context] = readContexts(page);
    assert.deepEqual([context?.mode, context?.service], ["popup", "online-meeting"]);
    assert.equal(await page.evaluate("document.documentElement.style.overflow"), "hidden");
    const seen = await listAccessible(page);
    assert.ok(seen.includes('dialog "Book an appointment"'), seen.join("\n"));
    await page.keyboard.press("Escape");
    await isGone(page);
    assert.equal(await page.evaluate("document.documentElement.style.overflow"), "");
    assert.equal(await page.evaluate("document.activeElement.id"), "book");
    assert.deepEqual(errors, []);
  });

  test("opens, is operated and closes by keyboard alone, and the page behind it can't be reached", async () => {
    const { page } = await visit(`${BUTTON}<a id="after" href="/">After</a>`);
    await page.locator("#book").focus();
    await page.keyboard.press("Enter");
    const frame = await findFrame(page);
    await page.keyboard.press("Tab");
    assert.ok(await frame.evaluate("document.hasFocus()"), "the focus is in the frame");
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      const behind = await page.evaluate("document.activeElement.id");
      assert.ok(behind !== "book" && behind !== "after", "the focus left the dialog");
    }
    await frame.locator("button:visible, a:visible").first().focus();
    await page.keyboard.press("Escape");
    await isGone(page);
    assert.equal(await page.evaluate("document.activeElement.id"), "book");
  });

  test("can be closed before the frame is loaded, and its button says so in the page's language", async () => {
    const { page, errors } = await visit(BUTTON, { lang: "fr" });
    // The frame's own script never arrives.
    await page.route(`${SERVICE}/assets/**`, () => {});
    await page.locator("#book").click();
    await waitForContexts(page, 1);
    const seen = await listAccessible(page);
    assert.ok(seen.includes('dialog "Prendre rendez-vous"') && seen.includes('button "Fermer"'), seen.join("\n"));
    await page.keyboard.press("Enter");
    await isGone(page);
    assert.deepEqual(errors, []);
  });

  test("opens from elements added later, and from a link, which stays a normal link when a new tab is requested", async () => {
    const { page } = await visit("");
    await page.evaluate(`document.body.insertAdjacentHTML("beforeend",
      '<a id="late" href="${SERVICE}/w/${widgetId}" data-svc-open><b>Book</b></a>')`);
    await page.locator("#late b").click();
    await findFrame(page);
    assert.equal(page.url(), `${SITE}/`);
    await page.keyboard.press("Escape");
    await isGone(page);
    // Opening the tab is up to the browser, if the click is left to it; a headless one doesn't always do it.
    await page.evaluate(`addEventListener("click", (event) => {
      document.body.title = String(event.defaultPrevented);
      event.preventDefault();
    })`);
    await page.locator("#late").click({ modifiers: ["ControlOrMeta"] });
    assert.equal(await page.evaluate("document.body.title"), "false");
    assert.equal(readContexts(page).length, 0);
  });

  test("is mirrored on a right-to-left page", async () => {
    const { page, errors } = await visit(BUTTON, {
      dir: "rtl",
      lang: "ar",
      head: toScript(`data-widget="${widgetId}" data-mode="float" data-label="احجز موعدا"`),
    });
    const { height } = page.viewportSize() ?? { height: 0 };
    await waitForButton(page, "احجز موعدا");
    await page.mouse.click(60, height - 45);
    await findFrame(page);
    assert.deepEqual(await findAccessibilityFaults(page), []);
    assert.deepEqual(errors, []);
  });

  test("is as wide as its template, and the page is visible around it", async () => {
    // A dark page: browsers would put a background behind a frame with another colour scheme.
    const head = `<meta name="color-scheme" content="light dark">${toScript(`data-widget="${widgetId}"`)}`;
    const { page } = await visit(BUTTON, { head }, { colorScheme: "dark" });
    for (const [template, width] of [
      ["minimal", 640],
      ["compact", 384],
      ["classic", 768],
    ] as const) {
      await updateWidget(deps.db, widgetId, { template });
      await page.locator("#book").click();
      const frame = await findFrame(page);
      const box = await readBox(frame, "#frame");
      assert.deepEqual([box.width, box.left], [width, (1280 - width) / 2], template);
      const clip = { x: 0, y: 0, width: 200, height: 40 };
      const before = await page.screenshot({ clip });
      await page.evaluate("document.body.style.background = document.body.style.background ? '' : '#fa0'");
      assert.notDeepEqual(await page.screenshot({ clip }), before, "the page behind it is hidden");
      await page.keyboard.press("Escape");
      await isGone(page);
    }
  });

  for (const [width, height] of [
    [360, 640],
    [390, 844],
  ] as const)
    test(`is a bottom sheet on a phone, ${width} by ${height}, and passes axe`, async () => {
      const telephone = {
        viewport: { width, height },
        isMobile: true,
        hasTouch: true,
      } as const;
      const { page } = await visit(BUTTON, {}, telephone);
      await page.locator("#book").click();
      const frame = await findFrame(page);
      await frame.locator(".time").first().waitFor();
      assert.ok((await readBox(frame, ".step-time .primary")).bottom <= height, "Continue is in sight at the top");
      await frame.locator(".time").last().click();
      const sheet = await readBox(frame, "#frame");
      assert.deepEqual([sheet.left, sheet.width, sheet.bottom], [0, width, height]);
      assert.ok(sheet.top > 0 && sheet.top < 60, `${sheet.top}`);
      assert.equal(await readStyle(frame, "borderRadius"), "16px 16px 0px 0px");
      // Scrolled to the end, the buttons to leave and continue are within the thumb's reach.
      const closing = await readBox(frame, ".close");
      assert.ok(closing.width >= 44 && closing.height >= 44, "too small for a thumb");
      assert.ok(closing.top >= sheet.top && closing.right <= width);
      assert.ok((await readBox(frame, ".step-time .primary")).bottom <= height);
      assert.equal(await frame.evaluate("document.querySelector('#frame').scrollWidth <= innerWidth"), true);
      // The page behind it keeps its position, and nothing moves for visitors who prefer reduced motion.
      assert.equal(await page.evaluate("document.documentElement.style.overflow"), "hidden");
      assert.equal(await readStyle(frame, "overscrollBehaviorY"), "contain");
      assert.equal(await readStyle(frame, "animationName"), "none");
      await page.emulateMedia({ reducedMotion: "no-preference" });
      assert.equal(await readStyle(frame, "animationName"), "rise");
      await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
      await frame.locator("html[data-scheme=dark]").waitFor();
      assert.deepEqual(await findAccessibilityFaults(page), []);
      await frame.getByRole("button", { name: "Close" }).tap();
      await isGone(page);
    });
});

describe("svc(…)", { skip: noBrowser }, () => {
  test("runs calls made before the loader arrived, in order", async () => {
    const early = `${STUB}<script>
      heard = [];
      svc("theme", { accent: "#0a7d55", mode: "dark", radius: 4 });
      svc("on", "ready", (detail) => heard.push(detail));
      svc("on", "close", (detail) => heard.push(detail));
      svc("open", { service: "online-meeting", prefill: { name: "Mara", email: "mara@example.com", age: 5 } });
    </script>`;
    const { page, errors } = await visit("", { head: early + toScript(`data-widget="${widgetId}"`) });
    const frame = await findFrame(page);
    const [context] = readContexts(page);
    assert.deepEqual(context?.theme, { accent: "#0a7d55", mode: "dark", radius: 4 });
    assert.equal(context?.prefill?.email, "mara@example.com");
    assert.equal(context?.service, "online-meeting");
    await frame.locator("body").press("Escape");
    await page.waitForFunction("heard.length === 2");
    assert.deepEqual(await page.evaluate("heard"), [{ widget: widgetId }, { widget: widgetId }]);
    assert.deepEqual(errors, []);
  });

  test("sends each step to listeners and, if asked, to the data layer; what a listener throws stays in the page", async () => {
    const head = `${STUB}<script>heard = [];
      svc("on", "step", () => { throw new Error("of the page") });
      svc("on", "step", (detail) => heard.push(detail));
    </script>${toScript(`data-widget="${widgetId}" data-datalayer`)}`;
    // In a profile of its own: a visit that an earlier test began would not take its steps again.
    const { page, errors } = await visit("<svc-booking></svc-booking>", { head }, {});
    const frame = await findFrame(page);
    await frame.getByText("Consultation (sample)", { exact: true }).click();
    await page.waitForFunction("heard.length > 0");
    const [first] = (await page.evaluate("heard")) as [{ widget: string; name: string }];
    assert.equal(first.widget, widgetId);
    assert.equal(typeof first.name, "string");
    const events = (await page.evaluate("dataLayer")) as { event: string; widget: string }[];
    assert.ok(events.some((each) => each.event === "svc_ready" && each.widget === widgetId));
    assert.ok(events.some((each) => each.event === "svc_step"));
    assert.ok(errors.length > 0 && errors.every((error) => error === "thrown: of the page"), errors.join("\n"));
  });

  test("creates no data layer without data-datalayer", async () => {
    const { page } = await visit("<svc-booking></svc-booking>");
    await findFrame(page);
    assert.equal(await page.evaluate("typeof dataLayer"), "undefined");
  });

  test("applies a theme set later to the frame and the floating button", async () => {
    const { page, errors } = await visit("<svc-booking></svc-booking>", {
      head: toScript(`data-widget="${widgetId}" data-mode="float"`),
    });
    const frame = await findFrame(page);
    const readColors = () =>
      frame.evaluate("JSON.stringify([...document.documentElement.attributes].map((a) => a.name + a.value))");
    const before = await readColors();
    await page.evaluate("svc('theme', { accent: '#ffd400', mode: 'dark' })");
    await frame.waitForFunction(
      "(b) => JSON.stringify([...document.documentElement.attributes].map((a) => a.name + a.value)) !== b",
      before,
    );
    assert.deepEqual(errors, []);
  });

  test("applies a theme set while the frame is loading", async () => {
    const { page } = await visit("<svc-booking></svc-booking>");
    await findFrame(page);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/config", async (route) => {
      await released;
      await route.continue();
    });
    // In the same visit, so that no step makes the loader repeat the theme.
    await page.reload();
    await waitForContexts(page, 1);
    const frame = page.frames().find((each) => each.url().startsWith(`${SERVICE}/embed/`));
    await frame?.locator(".skeleton").waitFor();
    await page.evaluate("svc('theme', { mode: 'dark' })");
    release();
    await frame?.getByText("Consultation (sample)", { exact: true }).waitFor();
    await frame?.locator("html[data-scheme=dark]").waitFor();
  });

  test("applies a theme set later to a widget that is paused or does not exist", async () => {
    const paused = await makeWidget(deps.db, owner);
    await updateWidget(deps.db, paused, { status: "paused" });
    for (const widget of [paused, "w_nope"]) {
      const { page } = await visit(`<svc-booking widget="${widget}"></svc-booking>`);
      const frame = await findFrame(page);
      await page.evaluate("svc('theme', { mode: 'dark' })");
      await frame.locator("html[data-scheme=dark]").waitFor();
    }
  });
});
