import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSandbox } from "../../src/server/scheduler/sandbox/sandbox.ts";
import { findAccessibilityFaults, noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { createEmbedded, SERVICE, watchErrors } from "../support/browser/embedded.ts";
import { NOON } from "../support/builders.ts";
import { listWeek, requireBooked, toRequest } from "../support/scheduler/requests.ts";

// The pages behind an appointment's links and at unknown addresses, as the visitor sees them. They need no script.

const browser = openBrowser();
const { deps, owner, widgetId, visitor } = await createEmbedded();

async function book(): Promise<{ manageUrl: string; joinUrl: string }> {
  const system = createSandbox({ ...deps, baseUrl: SERVICE }, { organizationId: owner, widgetId });
  const [slot] = await listWeek(system, { now: NOON, serviceId: "online-meeting" });
  assert.ok(slot);
  const booked = requireBooked(await system.book(toRequest("online-meeting", slot), new AbortController().signal));
  return { manageUrl: booked.manageUrl ?? "", joinUrl: booked.joinUrl ?? "" };
}

describe("the appointment pages", { skip: noBrowser }, () => {
  test("let the visitor move and cancel by keyboard, without any script", async () => {
    const { manageUrl } = await book();
    const page = await browser.open({ ...visitor, javaScriptEnabled: false });
    await page.goto(manageUrl);
    await page.locator("summary", { hasText: "Move test booking" }).press("Enter");
    const [, time = ""] = await page.getByLabel("New time").locator("option").allInnerTexts();
    await page.getByLabel("New time").selectOption(time);
    await page.getByRole("button", { name: "Move test booking" }).press("Enter");
    await page.getByText(time.slice(-"10:00".length)).first().waitFor();
    await page.locator("summary", { hasText: "Cancel test booking" }).press("Enter");
    await page.getByRole("button", { name: "Cancel test booking" }).press("Enter");
    await page.getByRole("heading", { name: "This appointment has been cancelled" }).waitFor();
    assert.equal(page.url(), manageUrl);
    await page.reload();
    assert.equal(await page.locator("form").count(), 0);
  });

  for (const colorScheme of ["light", "dark"] as const) {
    test(`pass axe in ${colorScheme} colours and at 320 pixels`, async () => {
      const { manageUrl, joinUrl } = await book();
      const page = await browser.open({ ...visitor, colorScheme, viewport: { width: 320, height: 640 } });
      const errors = watchErrors(page);
      const unknown = ["/manage/nothing", "/nothing", "/w/w_nothing"].map((path) => SERVICE + path);
      for (const address of [manageUrl, joinUrl, ...unknown]) {
        await page.goto(address);
        await page.evaluate("document.querySelectorAll('details').forEach((each) => each.setAttribute('open', ''))");
        assert.deepEqual(await findAccessibilityFaults(page), []);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
      }
      // The last page, of an unknown widget, has the widget's colours.
      await page.locator(`:root[data-scheme="${colorScheme}"] .card`).waitFor();
      assert.deepEqual(errors, []);
    });
  }
});
