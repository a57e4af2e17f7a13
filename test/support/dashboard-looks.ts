import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findAccessibilityFaults, type useBrowser } from "./browser.ts";
import { type Dashboard, LOOKS } from "./dashboard.ts";

type Screen = {
  path: string;
  /** Shown when the screen is complete. */
  text: string;
  /** Opens a dialog, for example. */
  act?: (page: Page) => Promise<void>;
};

/** Every screen can be read and used by everybody, and nothing of it lies beside the page. */
export async function checkLooks(
  dashboard: Dashboard,
  browser: ReturnType<typeof useBrowser>,
  screens: readonly Screen[],
): Promise<void> {
  for (const about of LOOKS) {
    const { page } = await dashboard.open(browser, about);
    await page.clock.setFixedTime(dashboard.clock.now());
    for (const { path, text, act } of screens) {
      await page.goto(dashboard.addressOf(path));
      await page.getByRole("main").getByText(text).first().waitFor();
      await act?.(page);
      const name = `${path}, ${about.look}, ${about.width}`;
      assert.deepEqual(await findAccessibilityFaults(page), [], name);
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      assert.equal(await page.evaluate(overflow), 0, name);
    }
    await page.context().close();
  }
}
