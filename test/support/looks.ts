import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findAccessibilityFaults, type useBrowser } from "./browser.ts";
import { type Dashboard, LOOKS, SIZES } from "./dashboard.ts";

/** Waits until colours have changed; endless animations are left running. */
const SETTLED = `new Promise(requestAnimationFrame).then(() => Promise.allSettled(
  document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)))`;

/** Checks the current screen in light on desktop and in dark on a phone: it passes axe, and nothing overflows. */
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

/** The layout shift while loading: the part of the screen that moved, times the distance; people notice from 0.1. */
const JUMPS_MAX = 0.05;
const WATCH_JUMPS = `window.jumps = 0; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.jumps += value;
}).observe({ type: "layout-shift", buffered: true });`;

/** Called before a page is opened. The returned function, called once a screen is complete, checks that nothing jumped. */
async function watchJumps(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(WATCH_JUMPS);
  return async () => {
    const jumps = Number(await page.evaluate("window.jumps"));
    assert.ok(jumps <= JUMPS_MAX, `${page.url()} jumps by ${jumps}`);
  };
}

type Screen = {
  path: string;
  /** Visible when the screen is complete. */
  text: string;
  /** For example, opens a dialog. */
  act?: (page: Page) => Promise<void>;
};

/** Checks that every one of these screens is accessible. */
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
