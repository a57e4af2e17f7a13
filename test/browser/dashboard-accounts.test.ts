import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { encode } from "uqr";
import { makeSetupLink } from "../../src/server/accounts/setup/setup.ts";
import { OIDC_CLIENT, openOidcServer } from "../support/accounts/oidc-server.ts";
import { type SignedIn, signIn, TEST_PASSWORD } from "../support/app/sign-in.ts";
import { toTotpCode } from "../support/app/totp.ts";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { goTo, openGuestPage, openPage, showScreen, startDashboard, takeCookie } from "../support/browser/dashboard.ts";
import { assertGoodLooks } from "../support/browser/looks.ts";
import { makeBooking, makeWidget } from "../support/builders.ts";
import { findFreePort } from "../support/programs/free-port.ts";
import { until } from "../support/until.ts";

const browser = openBrowser();
const dashboard = await startDashboard({ plan: "pro" });
const PASSWORD = "three quiet herons";

describe("the first run", { skip: noBrowser }, () => {
  test("goes from the printed link to an organization, and the owner returns with password and code", async () => {
    const { deps, base } = dashboard;
    const link = await makeSetupLink(deps, base);
    assert.ok(link);
    const page = await openGuestPage(browser);
    await page.goto(link);
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Ada Winter");
    await page.getByLabel("Email address").fill("ada@example.com");
    await page.getByLabel("Password").first().fill("short");
    await page.getByLabel("Organization name").fill("Lindenhof");
    await page.getByRole("combobox", { name: "Time zone" }).fill("new york");
    await page.getByRole("option", { name: /America\/New York/ }).click();
    await page.getByLabel("Password").first().fill(PASSWORD);
    assert.match(await page.getByRole("combobox", { name: "Plan" }).inputValue(), /^Business/);
    await page.getByRole("combobox", { name: "Plan" }).click();
    await page.getByRole("option", { name: /^Pro/ }).click();
    await page.getByRole("button", { name: "Set up" }).click();
    await page.waitForURL(/\/app\/org_\w+$/);
    await page.getByText("Pro plan").first().waitFor();

    const settings = `${page.url()}/settings`;
    await goTo(page, settings);
    assert.match(await page.getByRole("combobox", { name: "Time zone" }).inputValue(), /^America\/New York/);

    await signOut(page);
    await page.goto(settings);
    await page.waitForURL(/\/sign-in\?next=/);
    await fillSignIn(page, { email: "ada@example.com", password: "wrong wrong wrong" });
    await page.getByText("Wrong email address or password.").waitFor();
    await signInByKeyboard(page, { email: "ada@example.com", password: PASSWORD });
    await page.waitForURL(settings);

    await goTo(page, settings.replace("/settings", "/profile"));
    const { uri, recoveryCodes } = await turnOnTwoFactor(page, PASSWORD);
    await signOut(page);
    await fillSignIn(page, { email: "ada@example.com", password: PASSWORD });
    await page.getByText("Code from your authenticator app").waitFor();
    await page.getByLabel("Digit 6 of 6").waitFor();
    // Each code works once: the current one turned two-factor on.
    await page.keyboard.type(toTotpCode(uri, new Date(Date.now() + 30_000)));
    await page.waitForURL(/\/app\/org_/);

    await signOut(page);
    await fillSignIn(page, { email: "ada@example.com", password: PASSWORD });
    await page.getByRole("button", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code").fill(recoveryCodes[0] ?? "");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(/\/app\/org_/);

    await showScreen(page, link);
    await page.getByText("Bookflow is already set up.").waitFor();
  });
});

describe("an organization's people", { skip: noBrowser }, () => {
  test("an invited person creates an account and sees what their role allows", async () => {
    const { page: owner } = await dashboard.share(browser);
    await showScreen(owner, dashboard.addressOf("/members"));
    await owner.getByRole("button", { name: "Invite" }).click();
    const dialog = owner.getByRole("dialog");
    await dialog.getByLabel("Email address").fill("mara@example.com");
    await dialog.getByRole("button", { name: "Send invitation" }).click();
    const link = new URL(await dialog.locator("pre").innerText());
    await dialog.getByRole("button", { name: "Done" }).click();
    await owner.getByRole("table", { name: "Pending invitations" }).getByText("mara@example.com").waitFor();

    const mara = await openGuestPage(browser);
    await showScreen(mara, dashboard.base + link.pathname + link.search);
    await mara.getByRole("heading", { name: "Join Lindenhof Dental" }).waitFor();
    await mara.getByLabel("Your name").fill("Mara Quell");
    await mara.getByLabel("Password").first().fill(PASSWORD);
    await mara.getByRole("button", { name: "Create account and join" }).click();
    await mara.waitForURL(new RegExp(`/app/${dashboard.organizationId}`));
    await goTo(mara, dashboard.addressOf("/members"));
    await mara.getByText("Only admins and owners can do this.").waitFor();
    const invite = mara.getByRole("button", { name: "Invite" });
    assert.equal(await invite.getAttribute("aria-disabled"), "true");
    await invite.press("Enter");
    await invite.hover();
    await mara.getByRole("tooltip", { name: /Only admins and owners/ }).waitFor();
    assert.equal(await mara.getByRole("dialog").count(), 0);

    await showScreen(owner, owner.url());
    await owner.getByRole("combobox", { name: "Role of Mara Quell" }).click();
    await owner.getByRole("option", { name: "Admin" }).click();
    await owner.getByRole("dialog").getByRole("button", { name: "Change role" }).click();
    await owner.getByText("Mara Quell’s role changed to admin").waitFor();
    await showScreen(mara, mara.url());
    await mara.getByRole("table", { name: "Members" }).waitFor();

    await owner.getByRole("button", { name: "Remove Mara Quell" }).click();
    await owner.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await owner.getByText("Mara Quell removed").waitFor();
    await showScreen(mara, mara.url());
    await mara.getByRole("heading", { name: "Page not found" }).waitFor();

    await goTo(owner, dashboard.addressOf("/audit"));
    const log = await owner.getByRole("table", { name: "Audit log" }).innerText();
    for (const words of ["Invitation created", "Member joined", "Role changed", "Member → admin", "Member removed"])
      assert.ok(log.includes(words), `the audit log has: ${words}`);
    await owner.getByRole("combobox", { name: "Action" }).click();
    await owner.getByRole("option", { name: "Role changed" }).click();
    await owner.getByRole("combobox", { name: "Person" }).click();
    await owner.getByRole("option", { name: "Mara Quell" }).click();
    await owner.getByRole("heading", { name: "No matches" }).waitFor();
    await owner.getByRole("button", { name: "Clear filters" }).first().click();
    await owner.getByRole("searchbox").fill("mara@");
    await owner.getByRole("heading", { name: "Matching entries" }).waitFor();
    await owner.waitForURL((url) => url.search === "?search=mara%40");
    const [file] = await Promise.all([
      owner.waitForEvent("download"),
      owner.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const actions = (await readFile(await file.path(), "utf8")).split("\r\n").map((line) => line.split(",")[1]);
    assert.ok(actions.includes("member.removed") && !actions.includes("audit.exported"), actions.join());
  });

  test("an invited person with an account signs in to accept, but only with the invited address", async () => {
    const person = await dashboard.find("owner");
    const elsewhere = await signIn(dashboard, { role: "member" });
    const link = await invite(person, elsewhere.email);
    const { page: wrong } = await dashboard.share(browser, { role: "viewer" });
    await showScreen(wrong, link);
    await wrong.getByText("but this invitation is for").waitFor();

    const page = await openGuestPage(browser);
    await showScreen(page, link);
    await page.getByRole("button", { name: "I already have an account" }).click();
    await page.getByLabel("Password").first().fill(TEST_PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(new RegExp(`/app/${dashboard.organizationId}`));
    await showScreen(page, link);
    await page.getByText("This invitation has expired, or was already used or revoked.").waitFor();
  });

  test("a forgotten password is reset through the link, once, and every device is signed out", async () => {
    const { page, person } = await dashboard.open(browser, { role: "member" });
    await showScreen(page, dashboard.addressOf("/profile"));
    const asking = await openGuestPage(browser);
    await showScreen(asking, `${dashboard.base}/forgot-password`);
    for (const email of ["nobody@example.com", person.email]) {
      await asking.getByLabel("Email address").fill(email);
      await asking.getByRole("button", { name: "Send reset link" }).click();
      await asking.getByText(`If ${email} has an account, we’ve sent it a link.`).waitFor();
      await showScreen(asking, asking.url());
    }
    const listLinks = () => dashboard.lines.flatMap((line) => /\/reset-password\?token=[^"]+/.exec(line)?.[0] ?? []);
    await until(() => listLinks().length > 0, "the link is sent");
    const links = listLinks();
    assert.equal(links.length, 1);
    await showScreen(asking, `${dashboard.base}${links[0]}`);
    await asking.getByLabel("New password").first().fill(PASSWORD);
    await asking.getByRole("button", { name: "Change password" }).click();
    await asking.waitForURL(/\/sign-in$/);
    await fillSignIn(asking, { email: person.email, password: PASSWORD });
    await asking.waitForURL(/\/app\/org_/);

    await page.getByRole("button", { name: "Sign out other sessions" }).waitFor();
    await page.reload();
    await page.waitForURL(/\/sign-in\?next=/);
    await showScreen(asking, `${dashboard.base}${links[0]}`);
    await asking.getByLabel("New password").first().fill("another quiet heron");
    await asking.getByRole("button", { name: "Change password" }).click();
    await asking.getByText("This link has expired or has already been used.").waitFor();
  });

  test("an owner creates a second organization and switches between the two", async () => {
    const { page } = await dashboard.open(browser);
    await showScreen(page, `${dashboard.base}/app/new-organization`);
    await page.getByLabel("Organization name").fill("Waldhof");
    await page.getByRole("button", { name: "Create" }).click();
    await page.waitForURL(
      (url) => /^\/app\/org_\w+$/.test(url.pathname) && !url.pathname.includes(dashboard.organizationId),
    );
    await goTo(page, `${page.url()}/settings`);
    await page.getByRole("button", { name: /Organization: Waldhof/ }).click();
    await page.getByRole("menuitem", { name: "Lindenhof Dental" }).click();
    await page.waitForURL(new RegExp(`/app/${dashboard.organizationId}`));
    await page.getByRole("button", { name: /Organization: Lindenhof Dental/ }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: /Organization: Waldhof/ }).waitFor();
  });

  test("a session ended elsewhere continues after signing in, and nothing typed is lost", async () => {
    const { page, person } = await dashboard.open(browser);
    const other = await openGuestPage(browser);
    await showScreen(other, `${dashboard.base}/sign-in`);
    await fillSignIn(other, { email: person.email, password: TEST_PASSWORD });
    await other.waitForURL(/\/app\/org_/);
    await showScreen(other, dashboard.addressOf("/profile"));
    const name = other.getByRole("textbox", { name: "Name" });
    await name.fill("Ada von Winter");

    await showScreen(page, dashboard.addressOf("/profile"));
    await page.getByRole("button", { name: "Sign out other sessions" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out other sessions" }).click();
    await page.getByText("All other sessions signed out").waitFor();

    await other.getByRole("button", { name: "Save" }).click();
    const dialog = other.getByRole("dialog", { name: "You’ve been signed out" });
    await dialog.getByLabel("Password").first().fill(TEST_PASSWORD);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "hidden" });
    assert.equal(await name.inputValue(), "Ada von Winter");
    await name.fill("Ada von Winter ");
    await other.getByRole("button", { name: "Save" }).click();
    await other.getByText("Name saved").waitFor();
    await other.getByRole("button", { name: /Your account: Ada von Winter/ }).waitFor();
    assert.equal(await name.inputValue(), "Ada von Winter");
    assert.equal(await other.getByText("Someone else changed this", { exact: false }).count(), 0);
  });

  test("another person who signs in after a session ended sees nothing of the earlier one", async () => {
    const { deps, organizationId } = dashboard;
    const widgetId = await makeWidget(deps.db, organizationId);
    await makeBooking(deps.db, organizationId, { widgetId, customer_name: "Ottilie Sonderfall" });
    const { page, person } = await dashboard.open(browser);
    const viewer = await signIn(dashboard, { role: "viewer", organizationId });
    await showScreen(page, dashboard.addressOf("/bookings"));
    await page.getByText("Ottilie Sonderfall").waitFor();
    await deps.db.deleteFrom("user_sessions").where("user_id", "=", person.userId).execute();
    await page.getByRole("link", { name: "Ottilie Sonderfall" }).click();
    const dialog = page.getByRole("dialog", { name: "You’ve been signed out" });
    await dialog.getByLabel("Email address").fill(viewer.email);
    await dialog.getByLabel("Password").first().fill(TEST_PASSWORD);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Customer data is hidden").waitFor();
    assert.doesNotMatch(await page.locator("body").innerText(), /Ottilie|Sonderfall/);

    await signOut(page);
    await page.goBack();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.equal(await page.getByRole("main").getByRole("table").count(), 0);
  });

  test("signing out in one tab covers the others, and a tab checks who is signed in when it becomes visible", async () => {
    const { page } = await dashboard.open(browser);
    const other = await page.context().newPage();
    for (const tab of [page, other]) {
      await showScreen(tab, dashboard.addressOf("/members"));
      await tab.getByRole("table", { name: "Members" }).waitFor();
    }
    await other.getByRole("button", { name: "Invite" }).click();
    const invitation = other.getByRole("dialog", { name: "Invite" });
    await invitation.getByLabel("Email address").fill("mara@example.com");
    await signOut(page);
    const dialog = other.getByRole("dialog", { name: "You’ve been signed out" });
    await dialog.getByLabel("Password").first().fill(TEST_PASSWORD);
    await other.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(await invitation.getByLabel("Email address").inputValue(), "mara@example.com");
    await other.keyboard.press("Escape");
    await invitation.waitFor({ state: "detached" });

    const becomeVisible = () =>
      other.evaluate(`document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);
    const admin = await signIn(dashboard, { role: "admin", organizationId: dashboard.organizationId });
    await other.getByRole("button", { name: "Invite" }).click();
    await invitation.getByLabel("Email address").fill("mara@example.com");
    await takeCookie(other, dashboard.base, admin.cookie);
    // Again and again, since a check that began before the change is not repeated.
    await until(async () => {
      // It fails while the page is reloaded.
      await becomeVisible().catch(() => undefined);
      return !(await invitation.isVisible());
    }, "nothing of the earlier person is left");
    await other.getByRole("table", { name: "Members" }).waitFor();
    await dashboard.deps.db.deleteFrom("user_sessions").where("user_id", "=", admin.userId).execute();
    await until(async () => {
      await becomeVisible();
      return await dialog.isVisible();
    }, "the tab is covered");
  });

  test("someone who leaves their last organization is told so, and the last owner cannot leave", async () => {
    const { page } = await dashboard.open(browser, { role: "viewer" });
    await showScreen(page, dashboard.addressOf("/settings"));
    assert.equal(await page.getByLabel("Organization name").isEditable(), false);
    await page.getByRole("button", { name: "Leave" }).click();
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByRole("button", { name: "Leave" }).isEnabled(), false);
    await dialog.getByLabel("Type Lindenhof Dental to confirm").fill("lindenhof dental");
    await dialog.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { name: "You’re not in an organization yet" }).waitFor();

    const owner = await signIn(dashboard, { role: "owner" });
    const alone = await openGuestPage(browser);
    await takeCookie(alone, dashboard.base, owner.cookie);
    await showScreen(alone, `${dashboard.base}/app/${owner.organizationId}/members`);
    await alone.getByRole("button", { name: "Leave" }).click();
    await alone.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
    await alone.getByText("An organization needs at least one owner.").waitFor();
  });

  test("signing in redirects only to our own pages", async () => {
    const person = await dashboard.find("viewer");
    const page = await openGuestPage(browser);
    await showScreen(page, `${dashboard.base}/sign-in?next=${encodeURIComponent("//evil.example/app")}`);
    await fillSignIn(page, { email: person.email, password: TEST_PASSWORD });
    await page.waitForURL(new RegExp(`^${dashboard.base}/app/org_`));
  });
});

describe("sign-up", { skip: noBrowser }, () => {
  test("leads from an address through the link that is sent to it to a first organization", async () => {
    const service = await startDashboard({ settings: { signUp: "open" } });
    const page = await openGuestPage(browser);
    await page.goto(`${service.base}/sign-in`);
    await page.getByRole("link", { name: "Create an account" }).click();
    // The field of the sign-in page has the same label.
    await page.getByRole("button", { name: "Send link" }).waitFor();
    await page.getByLabel("Email address").fill("nina@example.com");
    await page.getByRole("button", { name: "Send link" }).click();
    await page.getByText("We’ve sent an email to nina@example.com.").waitFor();
    const findLink = () => service.lines.flatMap((line) => /\/sign-up\?token=[^"]+/.exec(line)?.[0] ?? [])[0];
    await until(() => findLink() !== undefined, "the link is sent");
    await page.goto(`${service.base}${findLink()}&email=nina@example.com`);
    await page.getByText("For nina@example.com.").waitFor();
    await assertGoodLooks(page);
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Nina Quell");
    await page.getByLabel("Password").first().fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("link", { name: "Create organization" }).click();
    await page.getByLabel("Organization name").fill("Quellhof");
    await page.getByRole("button", { name: "Create" }).click();
    await page.waitForURL(/\/app\/org_\w+$/);
  });
});

describe("OpenID Connect", { skip: noBrowser }, () => {
  test("goes through the issuer and back to the requested page; without an issuer it is not offered", async () => {
    const issuer = await openOidcServer();
    const port = await findFreePort();
    const settings = {
      baseUrl: `http://127.0.0.1:${port}`,
      oidcIssuer: issuer.issuer,
      oidcClientId: OIDC_CLIENT.id,
      oidcClientSecret: OIDC_CLIENT.secret,
    };
    const service = await startDashboard({ settings, port });
    const { organizationId } = service;
    const email = "ada@example.com";
    const { cookie } = await signIn(service, { role: "admin", organizationId, email });
    const page = await openPage(browser);
    await takeCookie(page, service.base, cookie);
    await page.goto(service.addressOf("/profile"));
    const connect = page.getByRole("button", { name: "Connect single sign-on" });
    issuer.visitor = { sub: "ada", email, email_verified: false };
    await connect.click();
    await page.getByText("Single sign-on wasn’t connected.").waitFor();
    issuer.visitor = { sub: "ada", email, email_verified: true };
    await connect.click();
    await page.getByRole("button", { name: "Disconnect single sign-on" }).waitFor();

    await service.deps.db.deleteFrom("user_accounts").where("provider_id", "=", "credential").execute();
    await page.context().clearCookies();
    await page.goto(service.addressOf("/audit"));
    await page.getByRole("button", { name: "Continue with single sign-on" }).click();
    await page.getByRole("table", { name: "Audit log" }).waitFor();
    assert.equal(page.url(), service.addressOf("/audit"));

    await page.context().clearCookies();
    await goTo(page, service.addressOf("/members"));
    const ended = page.getByRole("dialog", { name: "You’ve been signed out" });
    const again = ended.getByRole("button", { name: "Continue with single sign-on" });
    await again.waitFor();
    assert.equal(await ended.getByLabel("Password").count(), 0, "this person has no password");
    await again.click();
    await page.getByRole("table", { name: "Members" }).waitFor();
    assert.equal(page.url(), service.addressOf("/members"));

    issuer.visitor = { sub: "nobody", email: "nobody@example.com", email_verified: true };
    await page.context().clearCookies();
    await page.goto(`${service.base}/sign-in`);
    await page.getByRole("button", { name: "Continue with single sign-on" }).click();
    await page.getByText("Single sign-on failed.").waitFor();

    await page.goto(`${dashboard.base}/sign-in`);
    await page.waitForLoadState("networkidle");
    assert.equal(await page.getByRole("button", { name: /single sign-on/ }).count(), 0);
  });
});

/** The link in an invitation, as the dashboard shows it when no mail is sent. */
async function invite(owner: SignedIn, email: string): Promise<string> {
  const response = await dashboard.app.inject({
    method: "POST",
    url: "/api/app/invitations",
    headers: owner.headers,
    payload: { email, role: "viewer" },
  });
  const { pathname, search } = new URL(response.json().link);
  return dashboard.base + pathname + search;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
}

type Credentials = { email: string; password: string };

async function signInByKeyboard(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel("Email address").focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.type(email);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+A");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
}

/** Without the keys one by one: each draws the form again. */
async function fillSignIn(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel("Email address").fill(email);
  await page.getByLabel("Password").first().fill(password);
  await page.keyboard.press("Enter");
}

async function turnOnTwoFactor(page: Page, password: string): Promise<{ uri: string; recoveryCodes: string[] }> {
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByLabel("Your password").fill(password);
  await page.route("**/api/auth/**", (route) => route.abort(), { times: 1 });
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByLabel("Your password").fill(password);
  assert.equal(await page.getByRole("alert").count(), 0, "the earlier error is gone");
  await page.getByRole("button", { name: "Continue" }).click();
  const dialog = page.getByRole("dialog", { name: "Add Bookflow to your authenticator app" });
  const uri = (await dialog.getByRole("link", { name: "open it" }).getAttribute("href")) ?? "";
  const typed = (await dialog.locator("pre").innerText()).replaceAll(/\s/g, "");
  assert.equal(typed, new URL(uri).searchParams.get("secret"));
  const drawn = await dialog
    .getByRole("img", { name: /^QR code/ })
    .locator("path")
    .getAttribute("d");
  assert.deepEqual(drawn?.match(/M\d+ \d+/g), listDarkModules(uri));
  await dialog.getByLabel("Code from the app").fill("000000");
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await dialog.getByText("This code is wrong or has already been used.").waitFor();
  await dialog.getByLabel("Code from the app").fill(toTotpCode(uri, new Date()));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  const kept = page.getByRole("dialog", { name: "Save your recovery codes" });
  const recoveryCodes = (await kept.locator("pre").innerText()).trim().split("\n");
  await kept.getByRole("button", { name: "I’ve saved them" }).click();
  await page.getByRole("button", { name: "Turn off" }).waitFor();
  return { uri, recoveryCodes };
}

/** Includes the quiet zone that cameras need. */
function listDarkModules(text: string): string[] {
  const { data } = encode(text, { ecc: "M", border: 4 });
  return data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}`] : [])));
}
