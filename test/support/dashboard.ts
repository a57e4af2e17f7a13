import type { Page } from "playwright-core";
import type { MemberRole } from "#contract/app/role.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { type Config, parseConfig } from "../../src/server/config.ts";
import { createTestApp, type TestApp } from "./app.ts";
import type { useBrowser } from "./browser.ts";
import { makeOrganization } from "./builders.ts";
import { type SignedIn, signIn } from "./sign-in.ts";
import { openWire } from "./wire.ts";

export type Look = "light" | "dark";
export type Width = "desktop" | "phone";

/** Both colour schemes and both widths; all four combinations would take twice the time. */
export const LOOKS = [
  { look: "light", width: "desktop" },
  { look: "dark", width: "phone" },
] as const satisfies readonly { look: Look; width: Width }[];

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 360, height: 740 } };

export type Dashboard = TestApp & {
  /** http://127.0.0.1:{port} */
  base: string;
  organizationId: OrganizationId;
  /** /app/{organization} plus the path, as a full URL. */
  addressOf(path: string): string;
  /** A person in the organization, signed in in their own browser. */
  open(
    browser: ReturnType<typeof useBrowser>,
    options?: { role?: MemberRole; look?: Look; width?: Width },
  ): Promise<{ page: Page; person: SignedIn }>;
};

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
  return {
    ...test,
    base,
    organizationId,
    addressOf: (path) => `${base}/app/${organizationId}${path}`,
    async open(browser, { role = "owner", look = "light", width = "desktop" } = {}) {
      const person = await signIn(test, { role, organizationId });
      const page = await openPage(browser, { look, width });
      await takeCookie(page, base, person.cookie);
      return { page, person };
    },
  };
}

export function openPage(
  browser: ReturnType<typeof useBrowser>,
  options: { look?: Look; width?: Width } = {},
): Promise<Page> {
  const { look = "light", width = "desktop" } = options;
  return browser.open({ viewport: SIZES[width], colorScheme: look, reducedMotion: "reduce" });
}

/** Signs the page's browser in. */
export async function takeCookie(page: Page, base: string, cookie: string): Promise<void> {
  const cookies = cookie.split("; ").map((pair) => {
    const [name = "", ...value] = pair.split("=");
    return { name, value: value.join("="), url: base, httpOnly: true, sameSite: "Lax" as const };
  });
  await page.context().addCookies(cookies);
}
