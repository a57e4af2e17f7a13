import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noBrowser, useBrowser } from "../support/browser/browser.ts";
import { showScreen, startDashboard } from "../support/browser/dashboard.ts";
import { checkLooks } from "../support/browser/looks.ts";

const dashboard = await startDashboard({ plan: "business" });
const { base } = dashboard;

describe("API keys in the dashboard", { skip: noBrowser }, () => {
  const browser = useBrowser();

  async function open(options: Parameters<typeof dashboard.share>[1] = {}) {
    const opened = await dashboard.share(browser, options);
    await showScreen(opened.page, dashboard.addressOf("/keys"));
    return opened;
  }

  test("a key is created, shown once with a working command, and revoked", async () => {
    const { page, person } = await open();
    await page.getByText("No API keys yet").waitFor();
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog");
    const create = dialog.getByRole("button", { name: "Create key" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Nightly export");
    await dialog.getByRole("combobox", { name: "Expires" }).click();
    await page.getByRole("option", { name: "On a specific date" }).click();
    await dialog.getByLabel("Last day").fill("2026-10-31");
    await create.click();
    await dialog.getByText("Choose a date in the future.").waitFor();
    await dialog.getByLabel("Last day").fill("2026-11-30");
    await create.click();
    await dialog.getByText("Save your API key").waitFor();
    await page.locator('[aria-label="Copy API key"]:focus').waitFor();
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    await page.evaluate("history.back()");
    const question = page.getByRole("dialog", { name: "Leave without saving it?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "detached" });
    const [key = "", command = ""] = await dialog.locator("pre").allInnerTexts();
    assert.match(key, /^svc_live_/);
    assert.equal(command, `curl -H "Authorization: Bearer ${key}" \\\n  ${base}/api/v1/widgets`);
    const ask = async () =>
      (await fetch(`${base}/api/v1/bookings`, { headers: { authorization: `Bearer ${key}` } })).status;
    assert.equal(await ask(), 200);
    await dialog.getByRole("button", { name: "I’ve saved it" }).click();

    await page.reload();
    const row = page.getByRole("row").filter({ hasText: "Nightly export" });
    const [first, last] = [key.slice(9, 13), key.slice(-4)];
    await row.getByText(`svc_live_${first}…${last}`).waitFor();
    await row.getByText(person.email).waitFor();
    await row.getByText("30 Nov 2026").waitFor();
    assert.equal(await row.getByText("Never").count(), 0, "it was used just now");
    assert.ok(!(await page.content()).includes(key));

    await page.getByRole("button", { name: "Revoke Nightly export" }).click();
    await dialog.getByText("Applications that use this key will lose access immediately", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("API key Nightly export revoked").waitFor();
    await row.getByText("Revoked", { exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Revoke Nightly export" }).count(), 0);
    assert.equal(await ask(), 401);
  });

  test("members who aren't admins are told so, and see no keys", async () => {
    const { page } = await open({ role: "member" });
    await page.getByText("You don’t have access to API keys").waitFor();
    await page.getByText("Only admins and owners", { exact: false }).waitFor();
    assert.ok(!(await page.content()).includes("Nightly export"));
  });

  test("without the plan no key can be created, and the screen says why", async () => {
    const { page, person } = await dashboard.share(browser);
    const { address } = await dashboard.addOrganization(person, { plan: "pro" });
    await showScreen(page, `${address}/keys`);
    await page.getByText("Your plan doesn’t include the read API").waitFor();
    await page.getByRole("button", { name: "Create key" }).hover();
    await page.getByRole("tooltip").getByText("Available on the Business plan.").waitFor();
  });

  test("the screen is accessible, in light and dark, on desktop and phone", async () => {
    await checkLooks(dashboard, browser, [
      { path: "/keys", text: "Nightly export" },
      {
        path: "/keys",
        text: "Nightly export",
        act: async (page) => {
          await page.getByRole("button", { name: "Create key" }).click();
          await page.getByRole("dialog").waitFor();
        },
      },
    ]);
  });
});
