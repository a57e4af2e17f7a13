import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findAccessibilityFaults, type TestBrowser } from "./browser.ts";
import { type Dashboard, FORGET, goTo, LOOKS, SIZES } from "./dashboard.ts";

/** Waits until colours have changed; endless animations are left running. */
const SETTLED = `new Promise(requestAnimationFrame).then(() => Promise.allSettled(
  document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)))`;

const ON_TOP = "[role=dialog], [role=menu]";

/**
 * Checks the current screen in light on desktop and in dark on a phone: it passes axe, and nothing overflows. The elements are
 * checked in the first look; the second differs in its styles. With an open dialog or menu, only that is checked: check the screen
 * without it too. The frame in a widget's preview is not checked: frame-looks.test.ts does that.
 */
export async function assertGoodLooks(page: Page): Promise<void> {
  const { pathname, search } = new URL(page.url());
  const within = (await page.locator(ON_TOP).count()) > 0 ? ON_TOP : ":root";
  for (const { look, width } of LOOKS) {
    const name = `${pathname}${search}, ${look}, ${width}`;
    await page.setViewportSize(SIZES[width]);
    await page.emulateMedia({ colorScheme: look, reducedMotion: "reduce" });
    await page.locator(`html[data-mantine-color-scheme="${look}"]`).waitFor({ state: "attached" });
    await page.evaluate(`${SETTLED}.then(() => undefined)`);
    assert.deepEqual(
      await findAccessibilityFaults(page, { within, withFrames: false, stylesOnly: look === "dark" }),
      [],
      name,
    );
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(overflow, 0, name);
  }
}

/** The layout shift while loading: the part of the screen that moved, times the distance; people notice from 0.1. */
const JUMPS_MAX = 0.05;
const WATCH_JUMPS = `window.jumps = 0; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.jumps += value;
}).observe({ type: "layout-shift" });`;

async function assertNoJumps(page: Page): Promise<void> {
  const jumps = Number(await page.evaluate("window.jumps"));
  assert.ok(jumps <= JUMPS_MAX, `${page.url()} jumps by ${jumps}`);
}

type Screen = {
  path: string;
  /** Visible when the screen is complete. */
  text: string;
  /** For example, opens a dialog. */
  act?: (page: Page) => Promise<void>;
};

/**
 * Walks through these screens, and checks that each one is accessible and doesn't shift while its data arrives. If the dashboard
 * isn't open, the first one doesn't shift while its page loads either.
 */
export async function checkLooks(
  dashboard: Dashboard,
  browser: TestBrowser,
  screens: readonly Screen[],
): Promise<void> {
  const { page } = await dashboard.share(browser);
  const isOpen = page.url().startsWith(dashboard.base);
  if (isOpen) await page.evaluate(`${WATCH_JUMPS} ${FORGET}`);
  else await page.addInitScript(WATCH_JUMPS);
  for (const { path, text, act } of screens) {
    await page.setViewportSize(SIZES.desktop);
    await page.evaluate("window.jumps = 0");
    await goTo(page, dashboard.addressOf(path));
    await page.getByRole("main").getByText(text).first().waitFor();
    await assertNoJumps(page);
    if (act) await act(page);
    else await page.locator(ON_TOP).first().waitFor({ state: "detached" });
    await assertGoodLooks(page);
  }
}
