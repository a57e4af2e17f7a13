import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { addConnection } from "../../src/server/scheduler/connections/connections.ts";
import { noAudit } from "../support/app/no-audit.ts";
import { findAccessibilityFaults, noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { fillForm, goToForm, send, startFrameService, visitPage } from "../support/browser/frame.ts";
import { updateWidget } from "../support/builders.ts";
import { startCalcomServer } from "../support/scheduler/calcom/calcom-server.ts";

const browser = openBrowser();
const { deps, owner, visitor, makeWidget } = await startFrameService();

const calcom = await startCalcomServer();
after(() => Promise.all([calcom.stop(), deps.scheduler.outbound.close()]));

async function makeCalcomWidget() {
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Cal.com", ...calcom.parts }, noAudit);
  assert.ok(added.kind === "added");
  const widgetId = await makeWidget();
  await updateWidget(deps.db, widgetId, { connection_id: added.id });
  return widgetId;
}

describe("a visitor answers", { skip: noBrowser }, () => {
  test("a title, a phone number, several choices and a tick of a Cal.com event type", async () => {
    const widgetId = await makeCalcomWidget();
    const page = await browser.share("visitor", visitor);
    const errors = await visitPage(page, `/w/${widgetId}`);
    await goToForm(page, { service: /Everything/ });
    await fillForm(page);
    await page.getByLabel("What is this meeting about?").fill("A tooth");
    await page.getByLabel("Mobile").fill("0171 1234567");
    await send(page);
    for (const fault of ["Please enter the number with its country code", "Please answer this question."])
      await page.locator(".field .fault", { hasText: fault }).first().waitFor();
    assert.deepEqual(await findAccessibilityFaults(page), []);
    await page.getByLabel("Mobile").fill("+49 171 1234567");
    await page.getByRole("group", { name: "Symptoms" }).getByLabel("Pain").check();
    await page.getByLabel("Other").check();
    await page.getByLabel("Pain").uncheck();
    await page.getByLabel("Swelling, redness").check();
    await page.getByLabel("Terms").check();
    await send(page);
    await page.getByRole("heading", { name: "You’re booked" }).waitFor();
    const { notes: _, ...responses } = calcom.bookings[0]?.bookingFieldsResponses ?? {};
    assert.deepEqual(responses, {
      title: "A tooth",
      mobile: "+491711234567",
      symptoms: ["Swelling, redness", "Other"],
      terms: true,
    });
    assert.deepEqual(errors, []);
  });

  test("a required phone number, which the form then demands", async () => {
    const widgetId = await makeCalcomWidget();
    const before = calcom.bookings.length;
    const page = await browser.share("visitor", visitor);
    await visitPage(page, `/w/${widgetId}`);
    await goToForm(page, { service: /Call me/ });
    await fillForm(page);
    await send(page);
    await page.locator(".field .fault", { hasText: "country code" }).waitFor();
    assert.equal(calcom.bookings.length, before);
    await page.getByLabel("Phone").fill("+49 30 1234567");
    await send(page);
    await page.getByRole("heading", { name: "You’re booked" }).waitFor();
    assert.equal(calcom.bookings.length, before + 1);
  });
});
