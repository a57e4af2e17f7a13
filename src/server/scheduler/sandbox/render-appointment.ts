import type { Language } from "#contract/languages.ts";
import { type Html, html, renderHead } from "../../http/pages/html.ts";
import { APPOINTMENT_TEXTS, type AppointmentTexts } from "./appointment-texts.ts";
import type { ManagedAppointment } from "./manage.ts";

/** `tag` is the language with the reader's region, for dates and times as in the widget. */
export type Page = { readonly language: Language; readonly tag: string; readonly stylesheet: string };

/** The page to see and cancel an appointment: a form with a second step to confirm, and no script. */
export function renderManagePage(page: Page, appointment: ManagedAppointment, now: Date): string {
  const texts = APPOINTMENT_TEXTS[page.language];
  const { canceledAt, startAt, businessName } = appointment;
  if (canceledAt !== null) return renderClosed(page, appointment, { title: texts.canceledTitle, text: texts.canceled });
  if (startAt <= now) return renderClosed(page, appointment, { title: texts.pastTitle, text: texts.past });
  return renderDocument(page, {
    title: `${texts.yourBooking} – ${businessName}`,
    body: html`<p class="business">${businessName}</p>
<h1>${texts.yourBooking}</h1>
${renderFacts(page, appointment)}
${appointment.joinUrl === null ? null : html`<p><a class="primary" href="${appointment.joinUrl}">${texts.join}</a></p>`}
<details>
<summary>${texts.cancel}</summary>
<p>${texts.sure}</p>
<form method="post"><button>${texts.yesCancel}</button></form>
</details>`,
  });
}

export function renderMeetingPage(page: Page, appointment: ManagedAppointment): string {
  const texts = APPOINTMENT_TEXTS[page.language];
  if (appointment.canceledAt !== null)
    return renderClosed(page, appointment, { title: texts.canceledTitle, text: texts.canceled });
  return renderDocument(page, {
    title: `${texts.meetingTitle} – ${appointment.businessName}`,
    body: html`<p class="business">${appointment.businessName}</p>
<h1>${texts.meetingTitle}</h1>
<p>${texts.meeting}</p>
${renderFacts(page, appointment)}
<p class="note">${texts.sandbox}</p>`,
  });
}

export function renderUnknownLinkPage(page: Page): string {
  const texts = APPOINTMENT_TEXTS[page.language];
  return renderDocument(page, {
    title: texts.unknownTitle,
    body: html`<h1>${texts.unknownTitle}</h1>
<p>${texts.unknown}</p>`,
  });
}

function renderClosed(page: Page, appointment: ManagedAppointment, said: { title: string; text: string }): string {
  return renderDocument(page, {
    title: `${said.title} – ${appointment.businessName}`,
    body: html`<p class="business">${appointment.businessName}</p>
<h1>${said.title}</h1>
<p>${said.text}</p>
${renderFacts(page, appointment)}`,
  });
}

function renderFacts({ language, tag }: Page, appointment: ManagedAppointment): Html {
  const texts = APPOINTMENT_TEXTS[language];
  const facts: readonly [label: keyof AppointmentTexts, value: string | Html][] = [
    ["when", toWhen(tag, appointment)],
    ["service", appointment.serviceName],
    ["staff", appointment.staffName],
    ["reference", appointment.reference],
  ];
  return html`<dl${appointment.canceledAt === null ? null : html` class="gone"`}>${facts.map(
    ([label, value]) => html`<div><dt>${texts[label]}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** In the business's time zone, with its name, because the viewer's zone is unknown. */
function toWhen(tag: string, { startAt, endAt, timeZone }: ManagedAppointment): Html {
  const day = new Intl.DateTimeFormat(tag, { dateStyle: "full", timeZone }).format(startAt);
  const time = new Intl.DateTimeFormat(tag, { hour: "numeric", minute: "2-digit", timeZone });
  return html`${day}<br>${time.formatRange(startAt, endAt)} (${timeZone.replaceAll("_", " ")})`;
}

function renderDocument(page: Page, content: { title: string; body: Html }): string {
  return html`<!doctype html>
<html lang="${page.language}">
<head>
${renderHead(content.title, [page.stylesheet])}
</head>
<body>
<main>
<p class="test">${APPOINTMENT_TEXTS[page.language].test}</p>
${content.body}
</main>
</body>
</html>
`.toString();
}
