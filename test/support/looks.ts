import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findAccessibilityFaults, type useBrowser } from "./browser.ts";
import { type Dashboard, LOOKS, SIZES } from "./dashboard.ts";

/** Until colours have changed over; what moves without an end is left to move. */
const SETTLED = `new Promise(requestAnimationFrame).then(() => Promise.allSettled(
  document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)))`;

/** The screen as it stands, in light on a desktop and dark on a phone: no fault that axe finds, nothing sticking out. */
export async function assertGoodLooks(page: Page): Promise<void> {
  const { pathname, search } = new URL(page.url());
  for (const { look, width } of LOOKS) {
    const name = `${pathname}${search}, ${look}, ${width}`;
    await page.setViewportSize(SIZES[width]);
    await page.emulateMedia({ colorScheme: look, reducedMotion: "reduce" });
    await page.locator(`html[data-mantine-color-scheme="${look}"]`).waitFor({ state: "attached" });
    await page.evaluate(`${SETTLED}.then(() => undefined)`);
    assert.deepEqual(await findAccessibilityFaults(page), [], name);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(overflow, 0, name);
  }
}

/** How much of the screen moved, times how far, while it was loaded; 0.1 is where people begin to mind. */
const JUMPS_MAX = 0.05;
const WATCH_JUMPS = `window.jumps = 0; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.jumps += value;
}).observe({ type: "layout-shift", buffered: true });`;

/** For a page before it is opened. What it returns is asked when a screen is complete: nothing jumped on the way there. */
async function watchJumps(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(WATCH_JUMPS);
  return async () => {
    const jumps = Number(await page.evaluate("window.jumps"));
    assert.ok(jumps <= JUMPS_MAX, `${page.url()} jumps by ${jumps}`);
  };
}

type Screen = {
  path: string;
  /** Shown when the screen is complete. */
  text: string;
  /** Opens a dialog, for example. */
  act?: (page: Page) => Promise<void>;
};

/** Every one of these screens can be read and used by everybody. */
export async function checkLooks(
  dashboard: Dashboard,
  browser: ReturnType<typeof useBrowser>,
  screens: readonly Screen[],
): Promise<void> {
  const { page } = await dashboard.open(browser);
  await page.clock.setFixedTime(dashboard.clock.now());
  const assertNoJumps = await watchJumps(page);
  for (const { path, text, act } of screens) {
    await page.setViewportSize(SIZES.desktop);
    await page.goto(dashboard.addressOf(path));
    await page.getByRole("main").getByText(text).first().waitFor();
    await assertNoJumps();
    await act?.(page);
    await assertGoodLooks(page);
  }
}
