import assert from "node:assert/strict";
import type { BrowserContextOptions, Frame, Page } from "playwright-core";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { FrameContext } from "#contract/widgets/frame-messages.ts";
import { createTestApp, type TestApp } from "../app/app.ts";
import { makeOrganization, makeWidget } from "../builders.ts";
import { until } from "../until.ts";
import type { TestBrowser } from "./browser.ts";
import { startWeb, type TestWeb } from "./host-site.ts";

// A widget of the real service on pages of a customer's website.

export const SERVICE = "http://book.bookflow.example";
export const SITE = "http://www.lindenhof.example";

/** An ordinary browser's user agent: one that calls itself headless is taken for a bot. */
const USER_AGENT =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/145.0.0.0 Safari/537.36";

export type Embedded = TestApp & {
  web: TestWeb;
  owner: OrganizationId;
  widgetId: WidgetId;
  visitor: BrowserContextOptions;
};

export async function createEmbedded(settings: Parameters<typeof createTestApp>[0] = {}): Promise<Embedded> {
  const service = await createTestApp({ baseUrl: SERVICE, ...settings });
  const owner = await makeOrganization(service.deps.db, { timeZone: "Europe/Berlin" });
  const widgetId = await makeWidget(service.deps.db, owner);
  const web = await startWeb();
  await web.addService(new URL(SERVICE).host, service.app);
  return {
    ...service,
    web,
    owner,
    widgetId,
    visitor: { proxy: web.proxy, userAgent: USER_AGENT },
  };
}

export function toScript(attributes = ""): string {
  return `<script async src="${SERVICE}/loader.js" ${attributes}></script>`;
}

/** The file's visitor, who was never on the site: nothing is stored. What one test has downloaded, the next doesn't download again. */
export async function openVisitor(browser: TestBrowser, visitor: BrowserContextOptions): Promise<Page> {
  const page = await browser.share("visitor", visitor);
  await page.goto("about:blank");
  await page.context().clearCookies();
  const session = await page.context().newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin: SITE, storageTypes: "local_storage" });
  await session.detach();
  return page;
}

/** Console messages and errors from the page or its frames, except those about requests without a response. */
export function watchErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(`thrown: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !message.text().startsWith("Failed to load resource"))
      errors.push(`${message.type()}: ${message.text()}`);
  });
  return errors;
}

/** What the loader told this page's frames, in the order they were opened. */
export function readContexts(page: Page): FrameContext[] {
  return page
    .frames()
    .filter((frame) => frame.url().startsWith(`${SERVICE}/embed/`))
    .map((frame) => JSON.parse(decodeURIComponent(new URL(frame.url()).hash.slice(1))) as FrameContext);
}

export async function waitForContexts(page: Page, count: number): Promise<FrameContext[]> {
  for (;;) {
    const contexts = readContexts(page);
    if (contexts.length >= count) return contexts;
    await page.waitForEvent("framenavigated");
  }
}

/** The frame, once it is visible. */
export async function findFrame(page: Page): Promise<Frame> {
  await waitForContexts(page, 1);
  const frame = page.frames().find((each) => each.url().startsWith(`${SERVICE}/embed/`));
  assert.ok(frame);
  await frame.getByRole("heading").first().waitFor();
  return frame;
}

/** Waits for the floating button, which appears once its look has arrived. */
export async function waitForButton(page: Page, name: string): Promise<void> {
  await until(async () => (await listAccessible(page)).includes(`button "${name}"`), `there is a button "${name}"`);
}

/** Role and name of everything exposed to assistive technology, including closed shadow roots: `button "Close"`. */
export async function listAccessible(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  return nodes.filter(({ ignored }) => !ignored).map(({ role, name }) => `${role?.value} "${name?.value ?? ""}"`);
}
