import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BrowserContextOptions, Frame, Page } from "playwright-core";
import type { RawAttribution } from "#contract/analytics/attribution.ts";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import {
  createEmbedded,
  readContexts,
  SERVICE,
  SITE,
  toScript,
  waitForContexts,
  watchErrors,
} from "../support/browser/embedded.ts";
import { toPage } from "../support/browser/host-site.ts";

// What the loader stores about a visitor and tells the frame, in a real browser on a separate site.

const browser = openBrowser();
const { web, widgetId, visitor } = await createEmbedded();
const SEARCH = "http://www.google.com";
const AD = "/lp?utm_source=google&utm_medium=cpc&gclid=X&session=secret";
const ONLY_CAMPAIGN = { referrer: `${SEARCH}/`, utmSource: "google", utmMedium: "cpc" };

function addSites(consent: string): void {
  const head = toScript(`data-widget="${widgetId}" data-consent="${consent}"`);
  const links = '<p><a href="/about">About</a> <a href="/booking">Book</a></p>';
  web.addSite(new URL(SEARCH).host, { "/search": toPage(`<a href="${SITE}${AD}">Lindenhof</a>`) });
  web.addSite(new URL(SITE).host, {
    "/lp": toPage(links, { head }),
    "/about": toPage(links, { head }),
    "/booking": toPage(`${links}<svc-booking></svc-booking>`, { head }),
  });
}

async function arrive(consent: string, options: BrowserContextOptions = {}): Promise<{ page: Page; errors: string[] }> {
  addSites(consent);
  const page = await browser.open({ ...visitor, ...options });
  const errors = watchErrors(page);
  await page.goto(`${SEARCH}/search?q=dentist`);
  await page.getByText("Lindenhof").last().click();
  await page.waitForURL(`${SITE}${AD}`);
  await page.waitForFunction("customElements.get('svc-booking')");
  return { page, errors };
}

async function go(page: Page, link: "About" | "Book"): Promise<void> {
  await page.getByText(link, { exact: true }).click();
  await page.waitForFunction("customElements.get('svc-booking')");
}

async function readAttribution(page: Page): Promise<RawAttribution> {
  await waitForContexts(page, 1);
  return readContexts(page)[0]?.attribution ?? {};
}

type SentBody = { visitId: string; attribution: RawAttribution };

/** The next steps that the frame sends. */
function nextBody(page: Page): Promise<SentBody> {
  return page
    .waitForRequest((request) => request.url() === `${SERVICE}/embed-api/${widgetId}/events`)
    .then((request) => JSON.parse(request.postData() ?? "{}") as SentBody);
}

/** What the frame sends with its steps, which is what the loader told it last. */
async function nextSent(page: Page): Promise<RawAttribution> {
  return (await nextBody(page)).attribution;
}

/** Loads the page with the frame, again if it is open. The id of the visit whose view is sent; null if none should be. */
async function visitBooking(page: Page, { isSent = true } = {}): Promise<string | null> {
  const sent = isSent ? nextBody(page) : null;
  await page.goto(`${SITE}/booking`);
  await findFrame(page);
  return sent && (await sent).visitId;
}

async function readFrameStorage(page: Page): Promise<string[]> {
  const frame = await findFrame(page);
  return await frame.evaluate(() => [...Object.keys(sessionStorage), ...Object.keys(localStorage)]);
}

/** The frame, once it shows its services. */
async function findFrame(page: Page): Promise<Frame> {
  await waitForContexts(page, 1);
  const frame = page.frames().find((each) => each.url().startsWith(SERVICE));
  if (!frame) throw new Error("The page has no frame");
  await frame.getByText("Consultation (sample)", { exact: true }).waitFor();
  return frame;
}

/** Performs an action that tells the frame something, and waits until the frame has received it in its own process. */
async function tellFrame(frame: Frame, word: string, act: () => Promise<unknown>): Promise<void> {
  await frame.evaluate((expected) => {
    addEventListener("message", ({ data }) => {
      if (JSON.stringify(data).includes(expected)) document.documentElement.dataset["told"] = expected;
    });
  }, word);
  await act();
  await frame.locator(`html[data-told="${word}"]`).waitFor();
}

const readStored = (page: Page) =>
  page.evaluate("JSON.parse(localStorage.getItem('svc_attr'))") as Promise<object | null>;

describe("attribution", { skip: noBrowser }, () => {
  test("the first page, its campaign and its referrer are sent on the third page", async () => {
    const { page, errors } = await arrive("auto");
    await go(page, "About");
    await go(page, "Book");
    const { firstSeenAt, ...attribution } = await readAttribution(page);
    assert.match(String(firstSeenAt), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(attribution, {
      landingPage: `${SITE}/lp?utm_source=google&utm_medium=cpc&gclid=X`,
      referrer: `${SEARCH}/`,
      touches: 1,
      utmSource: "google",
      utmMedium: "cpc",
      gclid: "X",
      currentPage: `${SITE}/booking`,
    });
    assert.deepEqual(errors, []);
  });

  test("Google Analytics and Meta ids are read once the visitor agrees, and not before", async () => {
    const { page } = await arrive("auto");
    await page.evaluate("document.cookie = '_ga=GA1.1.123.456'; document.cookie = '_fbp=fb.1.17.9'");
    await go(page, "Book");
    assert.equal((await readAttribution(page)).gaClientId, undefined);
    await page.evaluate("svc('consent', 'granted')");
    await go(page, "About");
    await go(page, "Book");
    const { gaClientId, fbp } = await readAttribution(page);
    assert.deepEqual([gaClientId, fbp], ["123.456", "fb.1.17.9"]);
  });

  test("required: nothing is stored or sent before the visitor agrees, then everything, including on the next page", async () => {
    const { page } = await arrive("required");
    assert.equal(await readStored(page), null);
    await page.evaluate(`document.body.insertAdjacentHTML("beforeend", "<svc-booking></svc-booking>")`);
    assert.deepEqual(await readAttribution(page), {
      ...ONLY_CAMPAIGN,
      currentPage: `${SITE}/lp?utm_source=google&utm_medium=cpc`,
    });
    const frame = await findFrame(page);
    await tellFrame(frame, "gclid", () => page.evaluate("svc('consent', 'granted')"));
    const sent = nextSent(page);
    await frame.getByText("Consultation (sample)", { exact: true }).click();
    assert.equal((await sent).gclid, "X");
    assert.notEqual(await readStored(page), null);
    await go(page, "Book");
    assert.equal((await readAttribution(page)).gclid, "X");
    await page.evaluate("svc('consent', 'denied')");
    assert.equal(await readStored(page), null);
  });

  test("required, and agreed to on the second page: that page is the first one known", async () => {
    const { page } = await arrive("required");
    await go(page, "About");
    await page.evaluate("svc('consent', 'granted')");
    await go(page, "Book");
    const { landingPage, gclid, referrer } = await readAttribution(page);
    assert.deepEqual([landingPage, gclid, referrer], [`${SITE}/about`, undefined, ""]);
  });

  for (const signal of ["globalPrivacyControl", "doNotTrack"]) {
    test(`${signal}: nothing is stored even if the page says the visitor agreed, and stored data is deleted`, async () => {
      addSites("auto");
      const page = await browser.open(visitor);
      await page.goto(`${SITE}/about`);
      await page.waitForFunction("localStorage.getItem('svc_attr')");
      await page.addInitScript(
        (name) => Object.defineProperty(navigator, name, { value: name === "doNotTrack" ? "1" : true }),
        signal,
      );
      await page.goto(`${SEARCH}/search`);
      await page.getByText("Lindenhof").last().click();
      await page.waitForURL(`${SITE}${AD}`);
      await page.waitForFunction("!localStorage.getItem('svc_attr')");
      await page.evaluate("svc('consent', 'granted')");
      assert.equal(await readStored(page), null);
      await page.evaluate(`document.body.insertAdjacentHTML("beforeend", "<svc-booking></svc-booking>")`);
      assert.deepEqual(await readAttribution(page), {
        ...ONLY_CAMPAIGN,
        currentPage: `${SITE}/lp?utm_source=google&utm_medium=cpc`,
      });
    });
  }

  test("off: nothing is stored, whatever the page says", async () => {
    const { page } = await arrive("off");
    await page.evaluate("svc('consent', 'granted')");
    await go(page, "Book");
    assert.equal(await readStored(page), null);
    assert.deepEqual(await readAttribution(page), { referrer: "", currentPage: `${SITE}/booking` });
  });

  for (const consent of ["required", "off"]) {
    test(`${consent}: without consent the frame stores nothing, and a reload is a new visit`, async () => {
      const { page } = await arrive(consent);
      const first = await visitBooking(page);
      assert.deepEqual(await readFrameStorage(page), []);
      assert.notEqual(await visitBooking(page), first);
      assert.deepEqual(await readFrameStorage(page), []);
    });
  }

  test("a privacy signal: the frame stores nothing, even if the page says the visitor agreed", async () => {
    const { page } = await arrive("auto");
    await visitBooking(page);
    assert.deepEqual(await readFrameStorage(page), [`svc_visit_${widgetId}`]);
    await page.addInitScript(() => Object.defineProperty(navigator, "globalPrivacyControl", { value: true }));
    const first = await visitBooking(page);
    assert.deepEqual(await readFrameStorage(page), [], "what was stored before is deleted");
    const frame = await findFrame(page);
    await tellFrame(frame, "attribution", () => page.evaluate("svc('consent', 'granted')"));
    assert.deepEqual(await readFrameStorage(page), []);
    assert.notEqual(await visitBooking(page), first);
  });

  test("required: once the visitor agrees, the visit is stored and survives a reload; a refusal deletes it", async () => {
    const { page } = await arrive("required");
    const visitId = await visitBooking(page);
    const answer = (frame: Frame, text: string) =>
      tellFrame(frame, "attribution", () => page.evaluate(`svc('consent', '${text}')`));
    await answer(await findFrame(page), "granted");
    assert.deepEqual(await readFrameStorage(page), [`svc_visit_${widgetId}`]);
    assert.equal(await visitBooking(page, { isSent: false }), null);
    const sent = nextBody(page);
    const frame = await findFrame(page);
    await frame.getByText("Consultation (sample)", { exact: true }).click();
    assert.equal((await sent).visitId, visitId);
    await answer(frame, "denied");
    assert.equal(await frame.evaluate("sessionStorage.length"), 0);
  });

  test("a page that changes its own address: the frame is told where it is, and no touch is counted", async () => {
    const { page, errors } = await arrive("auto");
    await page.evaluate(`history.pushState(null, "", "/booking/online?utm_source=own");
      document.body.insertAdjacentHTML("beforeend", "<div id=app><svc-booking></svc-booking></div>")`);
    const attribution = await readAttribution(page);
    assert.equal(attribution.currentPage, `${SITE}/booking/online?utm_source=own`);
    assert.deepEqual([attribution.utmSource, attribution.touches], ["google", 1]);

    const frame = await findFrame(page);
    await tellFrame(frame, "/booking/next", () => page.evaluate(`history.pushState(null, "", "/booking/next")`));
    const sent = nextSent(page);
    await frame.getByText("Consultation (sample)", { exact: true }).click();
    assert.equal((await sent).currentPage, `${SITE}/booking/next`);

    await page.evaluate("document.querySelector('#app').remove()");
    while (readContexts(page).length > 0) await page.waitForEvent("framedetached");
    await page.evaluate(`document.body.insertAdjacentHTML("beforeend", "<svc-booking></svc-booking>")`);
    assert.equal((await readAttribution(page)).currentPage, `${SITE}/booking/next`);
    const moved = page.waitForEvent("framedetached");
    await page.evaluate("document.body.append(document.querySelector('svc-booking'))");
    await moved;
    assert.equal((await waitForContexts(page, 1)).length, 1);
    assert.deepEqual(errors, []);
  });
});
