import { isDeepStrictEqual } from "node:util";
import type { BrowserContextOptions, Frame, FrameLocator, Page } from "playwright-core";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Template } from "#contract/widgets/widget.ts";
import type { ServiceDeps } from "../../../src/server/create-deps.ts";
import { createTestApp, type TestApp } from "../app/app.ts";
import { makeOrganization, makeWidget, NOON, updateWidget } from "../builders.ts";
import { listTakenSteps } from "../funnel/collect.ts";
import { until } from "../until.ts";
import { startWeb, type TestWeb } from "./host-site.ts";

// The booking frame in a browser, on the whole service. On both server and browser it is noon on a Sunday.

export const SERVICE = "http://book.example";
const HOST = new URL(SERVICE).host;

/** A user agent that identifies itself as a program is not counted as a visitor. */
const USER_AGENT =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36";

export type FrameService = TestApp & {
  web: TestWeb;
  owner: OrganizationId;
  visitor: BrowserContextOptions;
  makeWidget(options?: { template?: Template; accent?: string; bookingUrl?: string }): Promise<WidgetId>;
};

export async function startFrameService(): Promise<FrameService> {
  const service = await createTestApp({
    baseUrl: SERVICE,
    rateLimitBookingsPerMinute: 0,
    webhookAllowCidrs: ["127.0.0.0/8"],
  });
  const web = await startWeb();
  await web.addService(HOST, service.app);
  const { db } = service.deps;
  const owner = await makeOrganization(db, { timeZone: "Europe/Berlin" });
  return {
    ...service,
    web,
    owner,
    visitor: { proxy: web.proxy, userAgent: USER_AGENT },
    async makeWidget({ template = "classic", accent, bookingUrl } = {}) {
      const id = await makeWidget(db, owner, bookingUrl === undefined ? {} : { bookingUrl });
      await updateWidget(db, id, { template, accent_color: accent ?? null });
      return id;
    },
  };
}

/** Opens a URL of the service at the test's time, and collects what goes wrong on the page. */
export async function visitPage(page: Page, path: string): Promise<string[]> {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.clock.setFixedTime(NOON);
  await page.goto(path.startsWith("http") ? path : SERVICE + path);
  return errors;
}

type View = Page | Frame | FrameLocator;

export async function goToForm(view: View, options: { service?: RegExp; time?: number } = {}): Promise<void> {
  await view.getByRole("button", { name: options.service ?? /Online meeting/ }).click();
  await view
    .locator(".time")
    .nth(options.time ?? 0)
    .click();
  await view.getByRole("button", { name: "Continue" }).click();
  await view.getByRole("heading", { name: "Your details" }).waitFor();
}

export async function fillForm(view: View, options: { email?: string; name?: string } = {}): Promise<void> {
  await view.getByLabel("Name").fill(options.name ?? "Mara Quell");
  await view.getByLabel("Email").fill(options.email ?? "mara.quell@example.com");
}

export async function send(view: View): Promise<void> {
  await view.getByRole("button", { name: "Book now" }).click();
}

export async function waitForBooked(view: View): Promise<string> {
  await view.getByRole("heading", { name: "Test booking complete" }).waitFor();
  return (await view.locator(".reference").innerText()).trim();
}

/** Stored bookings and the scheduling system's own appointments: the two must always agree. */
export async function countBooked(deps: Pick<ServiceDeps, "db">, widgetId: WidgetId): Promise<[number, number]> {
  const stored = await deps.db.selectFrom("bookings").select("reference").where("widget_id", "=", widgetId).execute();
  const made = await deps.db
    .selectFrom("sandbox_appointments")
    .select("reference")
    .where("widget_id", "=", widgetId)
    .execute();
  return [stored.length, made.length];
}

export async function listSteps(deps: Pick<ServiceDeps, "db">, widgetId: WidgetId): Promise<string[][]> {
  const taken = (await listTakenSteps(deps.db)).filter(({ widget_id }) => widget_id === widgetId);
  const visits = Map.groupBy(taken, ({ visit_id }) => visit_id).values();
  return [...visits]
    .map((steps) => steps.map(({ step }) => step).sort())
    .sort((a, b) => b.length - a.length || ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1));
}

/** The recorded steps: the frame sends them in its own time, and nobody waits for them. */
export async function waitForSteps(
  deps: Pick<ServiceDeps, "db">,
  widgetId: WidgetId,
  expected: string[][],
): Promise<void> {
  const isRecorded = async () => isDeepStrictEqual(await listSteps(deps, widgetId), expected);
  await until(isRecorded, `the steps are ${JSON.stringify(expected)}`);
}
