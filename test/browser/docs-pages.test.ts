import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { createTestApp } from "../support/app/app.ts";
import { openWire } from "../support/app/wire.ts";
import { findAccessibilityFaults, noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";

// The documents as readers see them: on desktop and phone, in light and dark.

const browser = openBrowser();
const { app } = await createTestApp();
const { port } = await openWire(app);
const ORIGIN = `http://127.0.0.1:${port}`;

const PHONE = { width: 390, height: 844 };
const LOOKS = [
  { colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { colorScheme: "dark", viewport: PHONE },
] as const;

/** Every message and request of a page that it should not make. */
function watch(page: Page): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${ORIGIN}/`) && !/^(data|blob):/.test(url)) faults.push(`request to ${url}`);
  });
  return faults;
}

const isTooWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";

describe("the guides", { skip: noBrowser }, () => {
  test("pass axe, fit the screen and contact no other host, in light and dark, on desktop and phone", async () => {
    const page = await browser.open();
    const faults = watch(page);
    for (const address of ["/docs", "/docs/quick-start"]) {
      await page.goto(ORIGIN + address);
      for (const { colorScheme, viewport } of LOOKS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        const name = `${address}, ${colorScheme}`;
        assert.deepEqual(await findAccessibilityFaults(page, { stylesOnly: colorScheme === "dark" }), [], name);
        assert.equal(await page.evaluate(isTooWide), false, name);
      }
    }
    assert.deepEqual(faults, []);
  });

  test("have a menu that leads to any other section on a phone without scripts", async () => {
    const page = await browser.open({ viewport: PHONE, javaScriptEnabled: false });
    await page.goto(`${ORIGIN}/docs/webhooks`);
    await page.getByRole("button", { name: "Menu" }).click();
    const menu = page.getByRole("navigation", { name: "Developers" });
    await menu.getByRole("link", { name: "Read API" }).waitFor();
    await menu.getByRole("link", { name: "Operators" }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/docs/operating");
  });

  test("have a copy button that copies its own code block", async () => {
    const page = await browser.open({ permissions: ["clipboard-read", "clipboard-write"] });
    const faults = watch(page);
    await page.goto(`${ORIGIN}/docs/webhooks`);
    const panel = page.locator(".panel").nth(1);
    await panel.getByRole("button", { name: "Copy" }).click();
    await panel.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), await panel.locator("code").textContent());
    assert.deepEqual(faults, []);
  });

  test("can be searched by keyboard: matches appear while typing, arrows choose, Enter opens, Escape closes", async () => {
    const page = await browser.open();
    const faults = watch(page);
    await page.goto(`${ORIGIN}/docs`);
    await page.keyboard.press("/");
    await page.keyboard.type("verifying sig");
    const match = page.locator(".live a").first();
    await match.waitFor();
    assert.deepEqual(await findAccessibilityFaults(page), []);
    await page.keyboard.press("Escape");
    await match.waitFor({ state: "hidden" });
    await page.keyboard.type("nature");
    await match.waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/webhooks#verifying-the-signature");
    assert.deepEqual(faults, []);
  });

  test("open the best match with Enter, show hostile text as text, and say when nothing matches or nothing could be loaded", async () => {
    const page = await browser.open();
    const faults = watch(page);
    await page.goto(`${ORIGIN}/docs`);
    const field = page.getByRole("searchbox", { name: "Search guides" });
    await page.route("**/docs/passages.json", (route) => route.fulfill({ status: 503 }), { times: 1 });
    await field.fill("backup");
    await page.locator(".live").getByText("The search couldn't be loaded. Try again.").waitFor();
    await field.fill("<img src=x onerror=alert(1)>zz");
    await page.locator(".live").getByText("No matches").waitFor();
    await field.fill("verifying the signature");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/webhooks#verifying-the-signature");
    assert.deepEqual(
      faults.filter((fault) => !fault.includes("503")),
      [],
    );
  });

  test("have no search field without scripts", async () => {
    const page = await browser.open({ javaScriptEnabled: false });
    await page.goto(`${ORIGIN}/docs/webhooks`);
    await page.getByRole("link", { name: "Read API" }).first().waitFor();
    assert.equal(await page.getByRole("searchbox", { name: "Search guides" }).count(), 0);
  });
});

describe("the API reference", { skip: noBrowser }, () => {
  /** Faults in Scalar's own markup, as of 1.72. A new version may fix them; a new kind of fault fails the test. */
  const KNOWN_FAULTS =
    /: (button-name|heading-order|label-content-name-mismatch|landmark-unique): .*scalar-refs|: scrollable-region-focusable: .*ul\[aria-label="[a-z]+ endpoints"\]/;

  // One page, because loading Scalar takes three seconds of processor time. It is loaded in dark, the less usual scheme.
  test("lists every operation, contacts no other host, offers no request client, and has one search", async () => {
    const page = await browser.open();
    const faults = watch(page);
    for (const { colorScheme, viewport } of LOOKS.toReversed()) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      if (page.url() === "about:blank") await page.goto(`${ORIGIN}/docs/api`);
      await page.getByRole("heading", { name: "List stored bookings" }).waitFor();
      for (const name of ["List widgets", "Get analytics", "Webhooks", "Schemas"])
        assert.ok((await page.getByRole("link", { name, includeHidden: true }).count()) > 0, name);
      assert.equal(await page.evaluate(isTooWide), false);
      assert.equal(await page.getByText(/test request|send request|ask ai|open api client|mcp/i).count(), 0);
      const ground = colorScheme === "dark" ? "rgb(16, 20, 23)" : "rgb(251, 252, 252)";
      assert.equal(await page.evaluate("getComputedStyle(document.body).backgroundColor"), ground);
    }
    const found = await findAccessibilityFaults(page);
    assert.deepEqual(
      found.filter((fault) => !KNOWN_FAULTS.test(fault)),
      [],
    );

    assert.equal(await page.getByRole("searchbox").count(), 1);
    assert.equal(await page.getByRole("button", { name: /search/i }).count(), 0);
    await page.getByRole("link", { name: "Get analytics" }).first().click();
    await page.waitForURL(/#.*analytics/);
    await page.getByText("Bearer $KEY", { exact: false }).first().waitFor();
    assert.deepEqual(faults, []);
  });
});
