import assert from "node:assert/strict";
import { test } from "node:test";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { fillForm, goToForm, send, waitForBooked } from "../support/browser/frame.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { startServiceProcess } from "../support/programs/service-process.ts";
import { until } from "../support/until.ts";
import { headerOf, startReplying, verify } from "../support/webhooks/webhook-service.ts";

const browser = openBrowser();

test("a new installation goes from the printed link to its first delivered webhook in the browser alone", {
  skip: noBrowser,
}, async () => {
  const { url } = await createTestDatabase();
  const service = await startServiceProcess({ DATABASE_URL: url, WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" });
  const receiver = await startReplying(() => ({ status: 200, body: "stored" }));
  await until(() => /\/setup\?token=\S+/.test(service.output()), "the link is printed");
  const token = /\/setup\?token=(\S+)/.exec(service.output())?.[1];
  const base = `http://127.0.0.1:${service.port}`;

  const page = await browser.open({ viewport: { width: 1280, height: 860 } });
  const dialog = page.getByRole("dialog");
  await page.goto(`${base}/setup?token=${token}`);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Ada Winter");
  await page.getByLabel("Email address").fill("ada@example.com");
  await page.getByLabel("Password").first().fill("three quiet herons");
  await page.getByLabel("Organization name").fill("Lindenhof Dental");
  await page.getByRole("button", { name: "Set up" }).click();

  await page.waitForURL(/\/app\/org_\w+$/);
  await page.getByText("Next step").waitFor();
  await page.getByRole("link", { name: "Create widget" }).click();
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Website");
  await dialog.getByRole("switch", { name: "Store bookings" }).check({ force: true });
  await dialog.getByRole("button", { name: "Create widget" }).click();
  await page.waitForURL(/\/widgets\/w_\w+/);
  const widgetId = /\/widgets\/(w_\w+)/.exec(page.url())?.[1];

  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await dialog.getByRole("textbox", { name: "URL" }).fill(receiver.url);
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Practice software");
  await dialog.getByRole("button", { name: "Add endpoint" }).click();
  const secret = await dialog.locator("pre").innerText();
  await dialog.getByRole("button", { name: "I’ve saved it" }).click();
  await page.getByRole("heading", { level: 1, name: "Practice software" }).waitFor();

  const visitor = await browser.open();
  await visitor.goto(`${base}/w/${widgetId}`);
  // The first time may be too soon by the time it is booked.
  await goToForm(visitor, { time: -1 });
  await fillForm(visitor, { name: "Mara Quell", email: "mara.quell@example.com" });
  await send(visitor);
  const reference = await waitForBooked(visitor);

  await page.getByRole("link", { name: "Deliveries", exact: true }).click();
  const row = page.getByRole("row").filter({ hasText: reference });
  await row.getByText("Delivered").waitFor();
  const [request, ...others] = receiver.requests;
  assert.ok(request && others.length === 0);
  assert.equal(verify(request, secret, new Date()).signatures, 1);
  assert.equal(headerOf(request, "Service-Event"), "booking.created");
  assert.equal(JSON.parse(request.body.toString()).data.booking.reference, reference);

  await page.getByRole("link", { name: "Bookings" }).click();
  await page.getByText(reference).first().waitFor();
  await page.getByText("Mara Quell").first().waitFor();
});
