import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Frame, Page } from "playwright-core";
import type { Booking } from "#contract/bookings/booking.ts";
import { DeliveryLoop } from "../../src/server/webhooks/delivery/loop.ts";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { createEmbedded, SERVICE, SITE, toScript, waitForContexts, watchErrors } from "../support/browser/embedded.ts";
import { toPage } from "../support/browser/host-site.ts";
import { makeKey } from "../support/builders.ts";
import {
  deliverAll,
  headerOf,
  makeEndpoint,
  QUICK,
  startReplying,
  verify,
} from "../support/webhooks/webhook-service.ts";

// A visitor comes from an ad, looks around, and books on the third page, inside the frame. Every place where the business looks
// shows the same source.

const browser = openBrowser();
const service = await createEmbedded({ ...QUICK, webhookAllowCidrs: [...QUICK.webhookAllowCidrs] });
const { app, deps, clock, web, owner, widgetId, visitor } = service;
// The browser's clock runs, and requests times from now on.
clock.set(new Date());

const SEARCH = "http://www.google.com";
const AD = "/lp?utm_source=google&utm_medium=cpc&gclid=X";
const LANDING_PAGE = `${SITE}/lp?utm_source=google&utm_medium=cpc&gclid=X`;

async function browseToBooking(): Promise<{ page: Page; errors: string[] }> {
  const head = toScript(`data-widget="${widgetId}"`);
  web.addSite(new URL(SEARCH).host, { "/search": toPage(`<a href="${SITE}${AD}">Lindenhof</a>`) });
  web.addSite(new URL(SITE).host, {
    "/lp": toPage('<a href="/about">About</a>', { head }),
    "/about": toPage('<a href="/booking">Book</a>', { head }),
    "/booking": toPage("<svc-booking></svc-booking>", { head }),
  });
  const page = await browser.open(visitor);
  const errors = watchErrors(page);
  await page.goto(`${SEARCH}/search?q=dentist`);
  await page.locator("a").click();
  await page.waitForFunction("localStorage.getItem('svc_attr')");
  await page.getByText("About").click();
  await page.waitForFunction("customElements.get('svc-booking')");
  await page.getByText("Book", { exact: true }).click();
  return { page, errors };
}

async function bookInFrame(frame: Frame): Promise<string> {
  await frame.getByText("Online meeting (sample)", { exact: true }).click();
  await frame.locator("input[name=time]").first().check({ force: true });
  await frame.getByRole("button", { name: "Continue" }).click();
  await frame.getByLabel("Name").fill("Mara Quell");
  await frame.getByLabel("Email").fill("mara.quell@example.com");
  await frame.getByRole("button", { name: "Book now" }).click();
  await frame.getByRole("heading", { name: "Test booking complete" }).waitFor();
  return (
    (
      await frame
        .getByText(/SVC-[A-Z0-9]{6}/)
        .first()
        .textContent()
    )?.match(/SVC-\w{6}/)?.[0] ?? ""
  );
}

describe("from an ad to a booking", { skip: noBrowser }, () => {
  test("the REST booking, webhook envelope, Slack and Teams cards and analytics all show its source", async () => {
    const receiver = await startReplying(() => ({ status: 200, body: "ok" }));
    const business = { owner, widgetId, plan: "business" as const };
    const { secret } = await makeEndpoint(deps, business, { url: `${receiver.url}/json` });
    await makeEndpoint(deps, business, { url: `${receiver.url}/slack`, kind: "slack" });
    await makeEndpoint(deps, business, { url: `${receiver.url}/teams`, kind: "teams" });
    const { key } = await makeKey(deps.db, owner);

    const { page, errors } = await browseToBooking();
    await waitForContexts(page, 1);
    const frame = page.frames().find((each) => each.url().startsWith(`${SERVICE}/embed/`));
    assert.ok(frame);
    const reference = await bookInFrame(frame);
    assert.deepEqual(errors, []);
    const loop = new DeliveryLoop(deps);
    await deliverAll(loop);

    const read = async (path: string) =>
      (await app.inject({ url: path, headers: { authorization: `Bearer ${key}` } })).json();
    const { data } = (await read("/api/v1/bookings")) as { data: Booking[] };
    assert.deepEqual(
      data.map((booking) => booking.reference),
      [reference],
    );
    const { firstSeenAt, ...attribution } = data[0]?.attribution ?? {};
    assert.match(String(firstSeenAt), /Z$/);
    assert.deepEqual(attribution, {
      source: "google",
      medium: "cpc",
      channel: "Paid Search",
      pageUrl: `${SITE}/booking`,
      landingPage: LANDING_PAGE,
      referrer: `${SEARCH}/`,
      utmSource: "google",
      utmMedium: "cpc",
      gclid: "X",
      currentPage: `${SITE}/booking`,
      touches: 1,
    });

    const received = new Map(
      receiver.requests.map((request) => [request.head.split(" ")[1]?.split("/").at(-1), request]),
    );
    assert.deepEqual([...received.keys()].sort(), ["json", "slack", "teams"]);
    const json = received.get("json");
    assert.ok(json);
    assert.equal(verify(json, secret, clock.now()).signatures, 1);
    assert.equal(headerOf(json, "Service-Event"), "booking.created");
    const envelope = JSON.parse(json.body.toString());
    assert.equal(envelope.data.booking.reference, reference);
    assert.deepEqual(envelope.data.attribution, {
      source: "google",
      medium: "cpc",
      channel: "Paid Search",
      landingPage: LANDING_PAGE,
      referrer: `${SEARCH}/`,
      pageUrl: `${SITE}/booking`,
      utm: { source: "google", medium: "cpc" },
      clickIds: { gclid: "X" },
    });
    for (const kind of ["slack", "teams"]) {
      const card = received.get(kind)?.body.toString() ?? "";
      for (const shown of [reference, "google / cpc", "Mara Quell"])
        assert.ok(card.includes(shown), `${kind}: ${card}`);
    }

    const report = await read("/api/v1/analytics?days=1");
    assert.deepEqual([report.totals.views, report.totals.bookings, report.totals.failed], [1, 1, 0]);
    const one = { views: 1, bookings: 1, conversionRate: 1 };
    assert.deepEqual(report.channels, [{ key: "Paid Search", ...one }]);
    assert.deepEqual(report.sources, [{ key: "google / cpc", ...one }]);
    assert.deepEqual(report.campaigns, [{ key: "(not set)", ...one }]);
    assert.equal(report.funnel.booking_completed, 1);
  });
});
