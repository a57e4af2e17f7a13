import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../support/app.ts";
import { findAccessibilityFaults, noBrowser, useBrowser as openBrowser } from "../support/browser.ts";
import { watchErrors } from "../support/embedded.ts";
import { openWire } from "../support/wire.ts";

// The documents as readers meet them: on a desktop and on a phone, in light and in dark, without any script of ours.

const browser = openBrowser();
const { app } = await createTestApp();
const { port } = await openWire(app);

const PHONE = { width: 360, height: 740 };
const LOOKS = [
  { colorScheme: "light", viewport: { width: 1440, height: 900 }, addresses: ["/docs", "/docs/webhooks", "/docs/api"] },
  { colorScheme: "dark", viewport: PHONE, addresses: ["/docs", "/docs/webhooks"] },
] as const;

test("the documents leave axe nothing to find and stick out nowhere, on a desktop and on a phone", {
  skip: noBrowser,
}, async () => {
  for (const { addresses, ...look } of LOOKS) {
    const page = await browser.open(look);
    const errors = watchErrors(page);
    for (const address of addresses) {
      await page.goto(`http://127.0.0.1:${port}${address}`);
      assert.deepEqual(await findAccessibilityFaults(page), [], address);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), look.viewport.width, address);
    }
    assert.deepEqual(errors, []);
  }
});

test("on a phone the menu leads from one document to another", { skip: noBrowser }, async () => {
  const page = await browser.open({ viewport: PHONE, javaScriptEnabled: false });
  await page.goto(`http://127.0.0.1:${port}/docs/webhooks`);
  await page.getByRole("link", { name: "Menu" }).click();
  await page.getByRole("navigation", { name: "All documents" }).getByRole("link", { name: "Operating" }).click();
  await page.getByRole("heading", { level: 1, name: "Operating Bookflow" }).waitFor();
});
