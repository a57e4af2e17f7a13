import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, afterEach } from "node:test";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { prepareBrowser } from "../../../scripts/test-browser.ts";
import { afterLastFile } from "../after-last-file.ts";

// A real browser for tests. Without one, tests that need it are skipped and say so.

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  // One process and its messages less for every drawn frame.
  "--in-process-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-component-update",
  // Pages live for seconds, so V8's two optimizing compilers cost more than they save: 5% and 3% of all processor time.
  "--js-flags=--no-opt --no-maglev",
];
/** Far longer than any step takes, also when the machine is busy. */
const STEP_LIMIT_MS = 15_000;
/** Nothing moves: an endless animation would be drawn sixty times a second. */
const VISITOR = { locale: "en-GB", timezoneId: "Europe/Berlin", reducedMotion: "reduce" } as const;
/** What tests listen to on a page. */
const LISTENED = ["console", "pageerror", "request"];
const path = (await prepareBrowser()) ?? "";

/** For the options of `test` and `describe`: why this file's tests can't run here, or false. */
export const noBrowser = path === "" ? "no browser was found: install Chromium or set BROWSER_PATH" : false;

export type TestBrowser = {
  /** A page in its own profile, closed at the end of the test. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** The file's page with this name. It keeps its profile from test to test, so loading a screen takes half the time. */
  share(name: string, options?: BrowserContextOptions): Promise<Page>;
};

/** One browser for all files of a process, because starting one takes as long as loading a page. */
let running: Promise<Browser> | null = null;
afterLastFile(async () => await (await running)?.close());

function runBrowser(): Promise<Browser> {
  running ??= chromium.launch({ executablePath: path, args: FLAGS, env: toEnvironment() }).then((browser) =>
    browser.once("disconnected", () => {
      running = null;
    }),
  );
  return running;
}

/** For one file: its pages are closed after its tests. */
export function useBrowser(): TestBrowser {
  let browser: Browser | null = null;
  const shared = new Map<string, Page>();
  // A page left open keeps making requests, and slows down what follows.
  const closeAllBut = async (kept: Set<BrowserContext>) => {
    const contexts = (browser?.contexts() ?? []).filter((context) => !kept.has(context));
    await Promise.all(contexts.map((context) => context.close()));
  };
  afterEach(() => closeAllBut(new Set([...shared.values()].map((page) => page.context()))));
  after(() => closeAllBut(new Set()));
  const open = async (options: BrowserContextOptions = {}) => {
    // A browser that crashed is replaced, so that it fails one test and not the rest of the file.
    browser = await runBrowser();
    const context = await browser.newContext({ ...VISITOR, ...options });
    context.setDefaultTimeout(STEP_LIMIT_MS);
    return await context.newPage();
  };
  return {
    open,
    async share(name, options) {
      let page = shared.get(name);
      if (!page || page.isClosed()) {
        page = await open(options);
        page.once("crash", () => shared.delete(name));
        shared.set(name, page);
      }
      await page.unrouteAll();
      for (const event of LISTENED) page.removeAllListeners(event);
      return page;
    },
  };
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The axe rules that depend on style sheets. */
const STYLE_RULES = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

/**
 * What axe finds wrong on the page, one line per fault: WCAG 2.2 AA and best practices. `stylesOnly` applies only the rules
 * that depend on style sheets, for a page whose elements were already checked with other styles. `within` is a selector; without
 * it, the whole page is checked, `withFrames` or without.
 */
export async function findAccessibilityFaults(
  page: Page,
  { within = ":root", stylesOnly = false, withFrames = true } = {},
): Promise<string[]> {
  const options = { iframes: false, resultTypes: ["violations"], ...(stylesOnly ? { runOnly: STYLE_RULES } : {}) };
  const faults: string[] = [];
  for (const frame of withFrames && within === ":root" ? page.frames() : [page.mainFrame()]) {
    // Evaluated by the debugger, so that the page's Content-Security-Policy stays strict.
    if (!(await frame.evaluate("'axe' in window"))) await frame.evaluate(`${axe}; undefined`);
    // A colour that fades has no contrast to check. Visitors of these tests prefer reduced motion.
    const isMoving = await frame.evaluate("document.getAnimations().length > 0");
    if (isMoving) faults.push(`${new URL(frame.url()).pathname}: it moves`);
    const violations = await frame.evaluate(`(async () => {
      const { violations } = await axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)});
      return violations.map(({ id, help, nodes }) => ({ id, help, targets: nodes.map((node) => node.target.join(" ")) }));
    })()`);
    for (const { id, help, targets } of violations as { id: string; help: string; targets: string[] }[]) {
      faults.push(`${new URL(frame.url()).pathname}: ${id}: ${help} (${targets.join(", ")})`);
    }
  }
  return faults;
}

/** Libraries and fonts that came with the browser are only for the browser. */
function toEnvironment(): Record<string, string> {
  const given = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const { BROWSER_LIBRARY_PATH: libraries, BROWSER_FONTS_PATH: fonts } = process.env;
  return {
    ...Object.fromEntries(given),
    ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}),
    ...(fonts ? { FONTCONFIG_PATH: fonts } : {}),
  };
}
