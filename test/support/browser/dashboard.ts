import type { Page } from "playwright-core";
import type { MemberRole } from "#contract/app/role.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { insertMember } from "../../../src/server/accounts/queries.ts";
import { type Config, parseConfig } from "../../../src/server/config.ts";
import { createTestApp, type TestApp } from "../app/app.ts";
import { type SignedIn, signIn } from "../app/sign-in.ts";
import { openWire } from "../app/wire.ts";
import { makeOrganization } from "../builders.ts";
import type { TestBrowser } from "./browser.ts";

/** Both colour schemes and both widths; all four combinations would take twice the time. */
export const LOOKS = [
  { look: "light", width: "desktop" },
  { look: "dark", width: "phone" },
] as const;

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 360, height: 740 } };

const DESKTOP = { viewport: SIZES.desktop, colorScheme: "light" } as const;

export type Dashboard = TestApp & {
  /** http://127.0.0.1:{port} */
  base: string;
  organizationId: OrganizationId;
  /** /app/{organization} plus the path, as a full URL. */
  addressOf(path: string): string;
  /** A new person in the organization, signed in in a browser of their own, until the next one is opened. */
  open(browser: TestBrowser, options?: { role?: MemberRole }): Promise<SignedInPage>;
  /** The file's person with this role, without a page. */
  find(role: MemberRole): Promise<SignedIn>;
  /** The same person, signed in on the one page that stays open from test to test: loading another costs a second. */
  share(browser: TestBrowser, options?: { role?: MemberRole }): Promise<SignedInPage>;
  /** Makes the person the owner of another organization; the result is its /app/{organization} as a full URL. */
  addOrganization(person: SignedIn, options?: { plan?: Plan }): Promise<{ id: OrganizationId; address: string }>;
};

type SignedInPage = { page: Page; person: SignedIn };

/** The whole service, listening, with one organization. The dashboard pages are from the last `npm run build`. */
export async function startDashboard({
  settings = {},
  port: wantedPort = 0,
  ...options
}: {
  plan?: Plan;
  timeZone?: string;
  settings?: Partial<Config>;
  /** Any free port, unless `settings` has a URL that names one. */
  port?: number;
} = {}): Promise<Dashboard> {
  const config = { ...parseConfig({}), rateLimitSignInPerMinute: 0, ...settings };
  const test = await createTestApp(config);
  const { port } = await openWire(test.app, wantedPort);
  const base = `http://127.0.0.1:${port}`;
  const organizationId = await makeOrganization(test.deps.db, { timeZone: "Europe/Berlin", ...options });
  const people = new Map<MemberRole, SignedIn>();
  const find = async (role: MemberRole) => {
    const person = people.get(role) ?? (await signIn(test, { role, organizationId }));
    people.set(role, person);
    return person;
  };
  let shown: SignedIn | null = null;
  return {
    ...test,
    base,
    organizationId,
    addressOf: (path) => `${base}/app/${organizationId}${path}`,
    async open(browser, { role = "owner" } = {}) {
      const page = await openEmpty(browser, "newcomer");
      const person = await signIn(test, { role, organizationId });
      await takeCookie(page, base, person.cookie);
      return { page, person };
    },
    find,
    async share(browser, { role = "owner" } = {}) {
      const page = await browser.share("dashboard", DESKTOP);
      const person = await find(role);
      if (person !== shown) {
        await takeCookie(page, base, person.cookie);
        if (page.url().startsWith(base)) await page.evaluate(FORGET);
      }
      shown = person;
      await page.setViewportSize(SIZES.desktop);
      await page.emulateMedia({ colorScheme: "light" });
      await page.clock.setFixedTime(test.clock.now());
      return { page, person };
    },
    async addOrganization({ userId }, given = {}) {
      const id = await makeOrganization(test.deps.db, given);
      const now = test.clock.now();
      const member = {
        organization_id: id,
        user_id: userId,
        role: "owner",
        last_used_at: null,
        created_at: now,
      } as const;
      await insertMember(test.deps.db, member);
      return { id, address: `${base}/app/${id}` };
    },
  };
}

/** Goes to a screen as a link does, without loading the page and without reading again what is fresh. */
export async function goTo(page: Page, address: string): Promise<void> {
  const isOpen = new URL(page.url()).origin === new URL(address).origin;
  if (!isOpen) await page.goto(address);
  else await page.evaluate(`history.pushState({ __TSR_index: history.state.__TSR_index + 1 }, "", "${address}")`);
}

/** Outside AppGate, so that nothing of the dashboard is shown. */
const EMPTY_PATH = "/nowhere";
/** An evaluation has no time limit of its own. */
const FORGET_LIMIT_MS = 15_000;
/**
 * Leaves the screen and forgets what was read, as loading the page does. Hides the screen first, so that the browser doesn't
 * restyle it while React removes it. Leaves again if a redirect that was under way shows another screen.
 */
export const FORGET = `(async () => {
  const root = document.getElementById("root");
  const endAt = performance.now() + ${FORGET_LIMIT_MS};
  root.hidden = true;
  do {
    if (performance.now() > endAt) throw new Error("The screen stays: " + location.href + document.body.innerText);
    if (location.pathname !== "${EMPTY_PATH}")
      history.pushState({ __TSR_index: history.state.__TSR_index + 1 }, "", "${EMPTY_PATH}");
    await new Promise(requestAnimationFrame);
  } while (document.querySelector("#content, [role=dialog]"));
  const findClient = (fiber) =>
    fiber && (fiber.memoizedProps?.client ?? findClient(fiber.child) ?? findClient(fiber.sibling));
  root.hidden = false;
  const key = Object.keys(root).find((name) => name.startsWith("__reactContainer$"));
  findClient(root[key].stateNode.current).clear();
  for (const close of document.querySelectorAll(".mantine-Notification-root button")) close.click();
})()`;

/** Shows a screen as loading its page does, with everything read again, at half the cost: the code is already running. */
export async function showScreen(page: Page, address: string): Promise<void> {
  const isOpen = new URL(page.url()).origin === new URL(address).origin;
  if (isOpen) await page.evaluate(FORGET);
  await goTo(page, address);
}

/** The file's page for someone who isn't signed in. */
export function openGuestPage(browser: TestBrowser): Promise<Page> {
  return openEmpty(browser, "guest");
}

/** The file's page with this name, without cookies and storage. What one test has downloaded, the next doesn't download again. */
async function openEmpty(browser: TestBrowser, name: string): Promise<Page> {
  const page = await browser.share(name, DESKTOP);
  const others = page
    .context()
    .pages()
    .filter((each) => each !== page);
  await Promise.all(others.map((each) => each.close()));
  // The cookies last: without them, a screen that is still reading says that its session has ended, and never goes away.
  if (page.url().startsWith("http")) await page.evaluate(`localStorage.clear(); sessionStorage.clear(); ${FORGET}`);
  await page.context().clearCookies();
  return page;
}

export function openPage(browser: TestBrowser): Promise<Page> {
  return browser.open(DESKTOP);
}

export async function takeCookie(page: Page, base: string, cookie: string): Promise<void> {
  const cookies = cookie.split("; ").map((pair) => {
    const [name = "", ...value] = pair.split("=");
    return { name, value: value.join("="), url: base, httpOnly: true, sameSite: "Lax" as const };
  });
  await page.context().addCookies(cookies);
}
