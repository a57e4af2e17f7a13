import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { HOUR_MS } from "#contract/durations.ts";
import { PAGE_FONT } from "#contract/widgets/widget-looks.ts";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import {
  createEmbedded,
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
import { type ServedPage, toPage } from "../support/browser/host-site.ts";
import { makeWidget, updateWidget } from "../support/builders.ts";
import { until } from "../support/until.ts";

// The loader on pages of every kind: it works where it can, and never disturbs the page where it can't.

const browser = openBrowser();
const { app, web, widgetId, visitor, deps, owner } = await createEmbedded();
const HOST = new URL(SITE).host;
const INLINE = `<svc-booking widget="${widgetId}"></svc-booking>`;
const FRAME = `${SERVICE}/embed/${widgetId}`;

/** Opens this page of the customer's website; `errors` collects whatever goes wrong on it. */
async function visit(
  page: string | ServedPage,
  options: { path?: string; prepare?: (page: Page) => Promise<unknown> } = {},
) {
  const { path = "/", prepare } = options;
  web.addSite(HOST, { [path]: page });
  const opened = prepare ? await browser.open(visitor) : await openVisitor(browser, visitor);
  const errors = watchErrors(opened);
  await prepare?.(opened);
  await opened.goto(SITE + path);
  return { page: opened, errors };
}

async function seeServices(page: Page, nth = 0): Promise<void> {
  await waitForContexts(page, nth + 1);
  const frame = page.frames().filter((each) => each.url().startsWith(`${SERVICE}/embed/`))[nth];
  await frame?.getByText("Consultation (sample)", { exact: true }).first().waitFor();
}

describe("the loader", { skip: noBrowser }, () => {
  test("shows the widget in the page, with the page's font, and tells its frame where it is", async () => {
    await updateWidget(deps.db, widgetId, { options: JSON.stringify({ fontFamily: PAGE_FONT }) });
    const { page, errors } = await visit(
      toPage(`<svc-booking widget="${widgetId}" service="online-meeting" locale="de"></svc-booking>`, {
        head: `<style>body { font-family: Georgia, serif }</style>${toScript()}`,
      }),
    );
    const [context] = await waitForContexts(page, 1);
    assert.equal(context?.mode, "inline");
    assert.equal(context?.hostOrigin, SITE);
    assert.equal(context?.service, "online-meeting");
    assert.equal(context?.locale, "de");
    const frame = page.frames().find((each) => each.url().startsWith(FRAME));
    await frame?.locator("h1").waitFor();
    assert.match(String(await frame?.evaluate(() => getComputedStyle(document.body).fontFamily)), /^Georgia, serif, /);
    assert.deepEqual(errors, []);
  });

  test("shows the service's message for a widget that does not exist, at the message's height", async () => {
    const { page } = await visit(toPage('<svc-booking widget="w_nope"></svc-booking>', { head: toScript() }));
    await waitForContexts(page, 1);
    const frame = page.frames().find((each) => each.url().startsWith(`${SERVICE}/embed/`));
    await frame?.getByRole("heading").waitFor();
    const isLow = () => (document.querySelector("svc-booking")?.getBoundingClientRect().height ?? 0) < 400;
    await page.waitForFunction(isLow);
  });

  test("requests only itself on a page without a widget, and sets no cookie", async () => {
    const requests: string[] = [];
    const { page, errors } = await visit(toPage("<p>About us.</p>", { head: toScript() }), {
      prepare: async (opened) => opened.on("request", (request) => requests.push(request.url())),
    });
    await page.waitForLoadState("networkidle");
    assert.deepEqual(requests, [`${SITE}/`, `${SERVICE}/loader.js`]);
    assert.deepEqual(await page.context().cookies(), []);
    assert.deepEqual(errors, []);
  });

  test("loads a frame below the window when it comes near", async () => {
    const { page } = await visit(toPage(`<p style="height:4000px"></p>${INLINE}`, { head: toScript() }));
    await page.waitForLoadState("networkidle");
    assert.equal(readContexts(page).length, 0);
    await page.mouse.wheel(0, 3500);
    assert.equal((await waitForContexts(page, 1)).length, 1);
  });

  test("loads a frame that comes near while the page is busy, and is reported together with being far", async () => {
    const head = `<script>
      window.IntersectionObserver = class {
        constructor(report) { this.report = report; }
        observe() { setTimeout(() => this.report([{ isIntersecting: false }, { isIntersecting: true }])); }
        disconnect() {}
      };
    </script>`;
    const { page } = await visit(toPage(INLINE, { head: head + toScript() }));
    assert.equal((await waitForContexts(page, 1)).length, 1);
  });

  test("shows two widgets on one page, each in its own frame", async () => {
    const other = await makeWidget(deps.db, owner);
    const { page, errors } = await visit(
      toPage(`${INLINE}<svc-booking widget="${other}"></svc-booking>`, { head: toScript() }),
      { prepare: (opened) => opened.setViewportSize({ width: 1000, height: 2000 }) },
    );
    await seeServices(page, 0);
    await seeServices(page, 1);
    const frames = readContexts(page).map(({ frame }) => frame);
    assert.equal(new Set(frames).size, 2);
    assert.deepEqual(errors, []);
  });

  test("does nothing when included a second time", async () => {
    const { page, errors } = await visit(toPage(INLINE, { head: toScript() + toScript('data-mode="float"') }));
    await seeServices(page);
    await page.waitForLoadState("networkidle");
    assert.equal(readContexts(page).length, 1);
    assert.deepEqual(errors, []);
  });

  test("works under the guide's Content-Security-Policy and nothing more, with trusted types required", async () => {
    const policy = `default-src 'none'; script-src ${SERVICE}; frame-src ${SERVICE}; require-trusted-types-for 'script'`;
    const body = toPage(`${INLINE}<button data-svc-open="${widgetId}">Book</button>`, {
      head: toScript(`data-widget="${widgetId}" data-mode="float"`),
    }).replace('<link rel="icon" href="data:,">', "");
    const { page, errors } = await visit({ body, headers: { "content-security-policy": policy } });
    await seeServices(page);
    await waitForButton(page, "Book an appointment");
    await page.getByRole("button", { name: "Book", exact: true }).click();
    await seeServices(page, 1);
    // The browser requests an icon that the policy forbids, whatever the page says.
    assert.deepEqual(
      errors.filter((error) => !error.includes("favicon.ico")),
      [],
    );
  });

  test("gives the floating button the colour, label and language that the widget has in the dashboard", async () => {
    const styled = await makeWidget(deps.db, owner);
    const options = { buttonLabel: "Zahnarzt </script> buchen", language: "de", cornerRadius: 3 };
    await updateWidget(deps.db, styled, { accent_color: "#0a7d55", options: JSON.stringify(options) });
    const head = toScript(`data-widget="${styled}" data-mode="float"`);
    const { page, errors } = await visit(toPage("", { head, lang: "fr" }));
    await waitForButton(page, options.buttonLabel);
    const { height, width } = page.viewportSize() ?? { height: 0, width: 0 };
    const readPixel = async () => {
      const png = await page.screenshot({ clip: { x: width - 20, y: height - 28, width: 1, height: 1 } });
      const other = await page.context().newPage();
      const pixel = await other.evaluate(async (data) => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
        const canvas = new OffscreenCanvas(1, 1).getContext("2d");
        canvas?.drawImage(image, 0, 0);
        return [...(canvas?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
      }, png.toString("base64"));
      await other.close();
      return pixel;
    };
    assert.deepEqual(await readPixel(), [0x0a, 0x7d, 0x55]);
    // The page's own theme comes first.
    await page.evaluate("svc('theme', { accent: '#ffd400' })");
    assert.deepEqual(await readPixel(), [0xff, 0xd4, 0x00]);
    assert.deepEqual(errors, []);
    // Without a label, it is the page's language that decides.
    await updateWidget(deps.db, styled, { options: "{}" });
    const plain = await visit(toPage("", { head, lang: "fr" }), {
      prepare: async (opened) => opened.route("**/button/**", (route) => route.continue()),
    });
    await waitForButton(plain.page, "Prendre rendez-vous");
  });

  test("links a widget that doesn't load to the fallback of its snippet or opener", async () => {
    const url = "https://www.lindenhof.example/contact";
    const body = `<svc-booking widget="${widgetId}" fallback="${url}"></svc-booking><a href="/phone" data-svc-open="${widgetId}">Book</a>`;
    const { page } = await visit(
      { body: toPage(body, { head: toScript() }), headers: { "content-security-policy": "frame-src 'none'" } },
      { prepare: (opened) => opened.clock.install({ time: 0 }) },
    );
    await page.waitForFunction("document.querySelector('svc-booking') && customElements.get('svc-booking')");
    const readLinks = async () => {
      await page.clock.runFor(3_000);
      const session = await page.context().newCDPSession(page);
      const { nodes } = await session.send("Accessibility.getFullAXTree");
      await session.detach();
      const links = nodes.filter(({ ignored, role }) => !ignored && role?.value === "link");
      return links.map(({ properties = [] }) => properties.find(({ name }) => name === "url")?.value.value);
    };
    await until(async () => (await readLinks()).includes(url), "the link is there");
    await page.getByText("Book", { exact: true }).click();
    assert.ok((await readLinks()).includes(`${SITE}/phone`));
  });

  for (const reset of [
    "* { all: unset }",
    "* { all: unset !important }",
    "div, iframe, dialog, button { display: none !important; visibility: hidden !important }",
    "iframe { width: 1px; height: 1px } dialog { position: static; opacity: 0 }",
  ]) {
    test(`is visible on a page with ${reset}`, async () => {
      const head = `${toScript(`data-widget="${widgetId}" data-mode="float"`)}<style>${reset}</style>`;
      const { page, errors } = await visit(toPage(INLINE, { head }));
      await seeServices(page);
      const frame = page.frames().find((each) => each.url().startsWith(FRAME));
      assert.ok(((await frame?.evaluate("innerWidth")) as number) > 700);
      const { height, width } = page.viewportSize() ?? { height: 0, width: 0 };
      await waitForButton(page, "Book an appointment");
      await page.mouse.click(width - 60, height - 45);
      await seeServices(page, 1);
      assert.equal(readContexts(page)[1]?.mode, "popup");
      assert.deepEqual(errors, []);
    });
  }

  test("works where storage and cookies are blocked", async () => {
    const { page, errors } = await visit(toPage(INLINE, { head: toScript('data-consent="auto"') }), {
      path: "/lp",
      prepare: (opened) =>
        opened.addInitScript(() => {
          const refuse = () => {
            throw new DOMException("The operation is insecure.", "SecurityError");
          };
          for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get: refuse });
          Object.defineProperty(Document.prototype, "cookie", { get: refuse, set: refuse });
        }),
    });
    await seeServices(page);
    assert.equal(readContexts(page)[0]?.attribution?.landingPage, `${SITE}/lp`);
    assert.deepEqual(errors, []);
  });

  test("breaks nothing in a sandboxed document without an origin or storage", async () => {
    const { page, errors } = await visit({
      body: toPage(INLINE, { head: toScript(`data-widget="${widgetId}" data-mode="float"`) }),
      headers: { "content-security-policy": "sandbox allow-scripts" },
    });
    await page.waitForFunction("typeof svc === 'function'");
    // The frame's own policy decides whether such a page may show it, and the button with it.
    assert.deepEqual(
      errors.filter((error) => !error.includes("frame-ancestors")),
      [],
    );
  });

  test("is found when injected as a module, which does not say which script runs", async () => {
    const script = toScript(`data-widget="${widgetId}"`).replace("<script async", '<script type="module"');
    const { page, errors } = await visit(toPage("<svc-booking></svc-booking>", { head: script }));
    await seeServices(page);
    assert.deepEqual(errors, []);
  });

  test("is found when another script adds it later", async () => {
    const inject = `<script>setTimeout(() => {
      const script = document.createElement("script");
      script.src = "${SERVICE}/loader.js";
      document.head.append(script);
    }, 50)</script>`;
    const { page, errors } = await visit(toPage(INLINE + inject));
    await seeServices(page);
    assert.deepEqual(errors, []);
  });

  test("leaves a foreign window.svc alone, and still works through attributes", async () => {
    const head = `<script>window.svc = { of: "another script" }</script>${toScript()}`;
    const { page, errors } = await visit(toPage(INLINE, { head }));
    await seeServices(page);
    assert.deepEqual(await page.evaluate("svc"), { of: "another script" });
    assert.deepEqual(errors, []);
  });

  test("stays quiet when other scripts have broken built-in objects", async () => {
    const breakArrays = `<script>
      for (const name of ["push", "find", "map", "some", "includes", "forEach"])
        Array.prototype[name] = () => { throw new Error("patched") };
      Array.prototype.extra = Object.prototype.more = function () {};
    </script>`;
    const { page, errors } = await visit(
      toPage(`<button data-svc-open="${widgetId}">Book</button>`, { head: toScript() + breakArrays }),
    );
    await page.locator("button").click();
    await page.evaluate("typeof svc === 'function' && svc('open', {})");
    assert.deepEqual(errors, []);
  });

  test("never throws, whatever a page asks of it", async () => {
    const { page, errors } = await visit(toPage("", { head: toScript() }));
    await page.waitForFunction("typeof svc === 'function'");
    const calls = [
      [],
      [null],
      [{}],
      ["open"],
      ["open", null],
      ["open", 5],
      ["on"],
      ["on", "booked", 5],
      ["theme"],
      ["theme", "x"],
      ["consent"],
      ["consent", {}],
      ["toString"],
      ["__proto__"],
      ["close"],
    ];
    for (const call of calls)
      await page.evaluate((given) => (window as unknown as { svc: (...x: unknown[]) => void }).svc(...given), call);
    await page.evaluate("postMessage(null, '*'); postMessage({ svc: 1, frame: 'f1', type: 'booked' }, '*')");
    assert.deepEqual(errors, []);
  });
});

describe("when the service is down", { skip: noBrowser }, () => {
  const host = new URL("http://down.bookflow.example").host;

  test("the page is unchanged", async () => {
    const script = `<script async src="http://${host}/loader.js"></script>`;
    const { page, errors } = await visit(toPage(`<p id="text">Welcome.</p>${INLINE}`, { head: script }));
    assert.equal(await page.locator("#text").textContent(), "Welcome.");
    assert.deepEqual(errors, []);
  });

  test("a frame or popup that doesn't load says so within 3 s, with a retry and a link, in the page's language", async () => {
    const script = (await app.inject("/loader.js")).body;
    web.addSite(host, { "/loader.js": { body: script, headers: { "content-type": "text/javascript" } } });
    const { page, errors } = await visit(
      toPage(`${INLINE}<button data-svc-open="${widgetId}">Buchen</button>`, {
        head: `<script async src="http://${host}/loader.js"></script>`,
        lang: "de",
      }),
      { path: "/lp", prepare: stopClock },
    );
    await page.waitForFunction("document.querySelector('svc-booking') && customElements.get('svc-booking')");
    await page.clock.runFor(1_000);
    await until(() => page.frames().length > 1, "the frame is there");
    await page.frames()[1]?.waitForLoadState();
    assert.ok(!(await listAccessible(page)).some((each) => each.startsWith("link")));
    await page.clock.runFor(2_000);
    await seesFailure(page);
    // The space reserved for the frame is released.
    const height = await page.evaluate("document.querySelector('svc-booking').getBoundingClientRect().height");
    assert.ok(Number(height) > 20 && Number(height) < 240, `${height}`);
    const [again] = await Promise.all([
      page.waitForRequest((request) => request.url().includes("/embed/")),
      page.keyboard.press("Tab").then(() => page.keyboard.press("Enter")),
    ]);
    assert.ok(again.frame() !== page.mainFrame());
    assert.equal(new URL(page.url()).hash, "");

    await page.getByRole("button", { name: "Buchen" }).click();
    await page.clock.runFor(3_000);
    const popup = await seesFailure(page);
    for (const role of ["dialog", 'button "Schließen"']) assert.ok(popup.some((each) => each.startsWith(role)));
    assert.ok(!popup.some((each) => each.startsWith("progress")), "no native progress bar");
    assert.deepEqual(errors, []);
  });

  /** Time passes only when the test says so. */
  async function stopClock(page: Page): Promise<void> {
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(HOUR_MS);
  }

  /** Our own words, a retry and a link to the booking page. */
  async function seesFailure(page: Page): Promise<string[]> {
    const seen = await listAccessible(page);
    for (const words of ["Nicht geladen", 'link "Erneut versuchen"', 'link "Termin buchen"'])
      assert.ok(
        seen.some((each) => each.includes(words)),
        seen.join("\n"),
      );
    return seen;
  }
});
