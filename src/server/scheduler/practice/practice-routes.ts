import type { FastifyInstance, FastifyRequest } from "fastify";
import { DAY_MS } from "#contract/durations.ts";
import { parseReference, parseWidgetId } from "#contract/ids.ts";
import { isMemberOf } from "../../accounts/auth/member-auth.ts";
import type { Deps } from "../../deps.ts";
import { toAcceptedLanguage } from "../../http/pages/accepted-language.ts";
import { type Html, html } from "../../http/pages/html.ts";
import { type PlainPage, sendPlainPage } from "../../http/pages/plain-page.ts";
import { requireOwnForm } from "../sandbox/own-form.ts";
import {
  type AppointmentRow,
  cancelAppointment,
  findAppointment,
  findSandbox,
  findWidgetOwner,
  listAppointments,
} from "../sandbox/queries.ts";
import { toName } from "../sandbox/sandbox.ts";
import type { SandboxSetup } from "../sandbox/setup.ts";
import type { SchedulerDeps } from "../scheduler-deps.ts";
import { isFromThisComputer } from "./this-computer.ts";

type PageRequest = FastifyRequest<{ Params: { widget: string; reference?: string } }>;

/** How far ahead the calendar shows appointments; further than the sandbox offers times. */
const SHOWN_DAYS = 400;

/**
 * The pages of the practice Cal.com: /practice-calcom/{widget} shows the calendar to members of the organization, and
 * /booking/{reference} below it is where a customer cancels. They contain nothing about customers.
 */
export async function practiceRoutes(
  app: FastifyInstance,
  deps: Pick<Deps, "db" | "clock"> &
    Parameters<typeof isMemberOf>[0] & {
      readonly scheduler: Pick<SchedulerDeps, "practiceUrl">;
    },
): Promise<void> {
  if (deps.scheduler.practiceUrl === null) return;
  const path = "/practice-calcom/:widget";

  app.get(path, { schema: { hide: true } }, async (request: PageRequest, reply) => {
    const calendar = await findCalendar(deps, request);
    if (calendar === null || !(await isMemberOf(deps, { request, reply }, calendar.owner)))
      return sendPlainPage(reply.code(404), NOT_FOUND);
    const now = deps.clock.now();
    const range = { from: now, to: new Date(now.getTime() + SHOWN_DAYS * DAY_MS) };
    const rows = await listAppointments(deps.db, calendar.owner, { widgetId: calendar.widgetId, ...range });
    return sendPlainPage(reply, renderCalendar({ ...calendar, locale: toLocale(request) }, rows));
  });

  app.get(`${path}/booking/:reference`, { schema: { hide: true } }, async (request: PageRequest, reply) => {
    const found = await findBooking(deps, request);
    if (found === null) return sendPlainPage(reply.code(404), NOT_FOUND);
    const isMember = await isMemberOf(deps, { request, reply }, found.owner);
    return sendPlainPage(reply, renderBooking({ ...found, isMember, locale: toLocale(request) }, deps.clock.now()));
  });

  // In its own scope, because other routes don't accept forms.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, _body, done) =>
      done(null),
    );
    const options = { bodyLimit: 1024, schema: { hide: true } };
    scope.post(`${path}/booking/:reference`, options, async (request: PageRequest, reply) => {
      requireOwnForm(request);
      const found = await findBooking(deps, request);
      if (found === null) return sendPlainPage(reply.code(404), NOT_FOUND);
      const { owner, widgetId, row } = found;
      await cancelAppointment(deps.db, owner, { widgetId, reference: row.reference, now: deps.clock.now() });
      return reply.redirect(`/practice-calcom/${widgetId}/booking/${row.reference}`, 303);
    });
  });
}

type Calendar = NonNullable<Awaited<ReturnType<typeof findCalendar>>>;

async function findCalendar({ db }: Pick<Deps, "db">, request: PageRequest) {
  const widgetId = isFromThisComputer(request) ? parseWidgetId(request.params.widget) : null;
  const owner = widgetId && (await findWidgetOwner(db, widgetId));
  const sandbox = owner && (await findSandbox(db, owner, widgetId));
  return sandbox ? { owner, widgetId, ...sandbox } : null;
}

async function findBooking(deps: Pick<Deps, "db">, request: PageRequest) {
  const calendar = await findCalendar(deps, request);
  const reference = parseReference(request.params.reference ?? "");
  const key = calendar && reference && { widgetId: calendar.widgetId, reference };
  const row = key && (await findAppointment(deps.db, calendar.owner, key));
  return row ? { ...calendar, row } : null;
}

/** The pages are in English; dates are written as in the reader's region. */
function toLocale(request: FastifyRequest): string {
  const { language, tag } = toAcceptedLanguage(request.headers["accept-language"]);
  return language === "en" ? tag : "en";
}

type Shown = Calendar & { readonly locale: string };

function renderCalendar(calendar: Shown, rows: readonly AppointmentRow[]): PlainPage {
  const shown = rows.filter((row) => row.canceled_at === null);
  const list = html`<dl>${shown.map(
    (
      row,
    ) => html`<div><dt><a href="/practice-calcom/${row.widget_id}/booking/${row.reference}">${row.reference}</a></dt>
<dd>${toService(calendar.setup, row)}<br>${toWhen(calendar, row)}</dd></div>`,
  )}</dl>`;
  return toPage("Practice calendar", [
    html`<p class="business">${calendar.businessName}</p><h1>Upcoming appointments</h1>`,
    shown.length === 0 ? html`<p>No upcoming appointments.</p>` : list,
  ]);
}

function renderBooking(found: Shown & { row: AppointmentRow; isMember: boolean }, now: Date): PlainPage {
  const { row, businessName, setup } = found;
  const cancel = html`<details><summary>Cancel appointment</summary>
<p>The time will be available to others immediately.</p>
<form method="post"><button>Cancel appointment</button></form></details>`;
  return toPage(`Appointment ${row.reference}`, [
    html`<p class="business">${businessName}</p>`,
    html`<h1>${row.canceled_at ? "This appointment has been cancelled" : toService(setup, row)}</h1>`,
    html`<dl${row.canceled_at ? html` class="gone"` : null}><div><dt>When</dt><dd>${toWhen(found, row)}</dd></div>
<div><dt>Service</dt><dd>${toService(setup, row)}</dd></div><div><dt>Reference</dt><dd>${row.reference}</dd></div></dl>`,
    row.canceled_at === null && row.start_at > now ? cancel : null,
    found.isMember ? html`<p><a href="/practice-calcom/${row.widget_id}">View calendar</a></p>` : null,
  ]);
}

function toService(setup: SandboxSetup, row: AppointmentRow): string {
  return toName(setup.services, row.service_id);
}

function toWhen({ timeZone, locale }: Shown, row: AppointmentRow): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short", timeZone });
  return `${format.format(row.start_at)} (${timeZone.replaceAll("_", " ")})`;
}

function toPage(title: string, content: readonly (Html | null)[]): PlainPage {
  const banner = html`<p class="test">Practice calendar. Appointments here aren’t real.</p>`;
  return { title, body: [banner, ...content] };
}

const NOT_FOUND = toPage("Page not found", [
  html`<h1>Page not found</h1>`,
  html`<p>This appointment or calendar doesn’t exist, or you need to sign in to see it.</p>`,
]);
