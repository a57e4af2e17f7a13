import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findAccessibilityFaults } from "./browser.ts";
import { LOOKS } from "./dashboard.ts";

const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

/** Until colours have changed over; what moves without an end is left to move. */
const SETTLED = `new Promise(requestAnimationFrame).then(() => Promise.allSettled(
  document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)))`;

/** The screen as it stands, in light on a desktop and dark on a phone: no fault that axe finds, nothing sticking out. */
export async function assertGoodLooks(page: Page): Promise<void> {
  for (const { look, width } of LOOKS) {
    await page.setViewportSize(SIZES[width]);
    await page.emulateMedia({ colorScheme: look, reducedMotion: "reduce" });
    await page.locator(`html[data-mantine-color-scheme="${look}"]`).waitFor({ state: "attached" });
    await page.evaluate(`${SETTLED}.then(() => undefined)`);
    assert.deepEqual(await findAccessibilityFaults(page), [], `${look}, ${width}`);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(overflow, 0, `${look}, ${width}`);
  }
}
