import type { Language } from "#contract/widgets/languages.ts";
import { type Html, html } from "../../http/pages/html.ts";
import type { PlainPage } from "../../http/pages/plain-page.ts";
import { APPOINTMENT_TEXTS, type AppointmentTexts } from "./appointment-texts.ts";
import type { ManagedAppointment } from "./manage.ts";

/** `tag` is the language with the reader's region, for dates and times as in the widget. */
export type Reader = { readonly language: Language; readonly tag: string };

/** The page to see, move and cancel an appointment: forms with a second step to confirm, and no script. */
export function renderManagePage(
  reader: Reader,
  appointment: ManagedAppointment,
  { now, otherTimes, isTaken }: { now: Date; otherTimes: readonly Date[]; isTaken: boolean },
): PlainPage {
  const texts = APPOINTMENT_TEXTS[reader.language];
  const { canceledAt, startAt, businessName } = appointment;
  if (canceledAt !== null)
    return renderClosed(reader, appointment, { title: texts.canceledTitle, text: texts.canceled });
  if (startAt <= now) return renderClosed(reader, appointment, { title: texts.pastTitle, text: texts.past });
  return toPage(reader, {
    title: `${texts.yourBooking} – ${businessName}`,
    body: html`<p class="business">${businessName}</p>
<h1>${texts.yourBooking}</h1>
${renderFacts(reader, appointment)}
${appointment.joinUrl === null ? null : html`<p><a class="primary" href="${appointment.joinUrl}">${texts.join}</a></p>`}
${isTaken ? html`<p role="alert">${texts.taken}</p>` : null}
${otherTimes.length === 0 ? null : renderMove(reader, appointment, otherTimes)}
<details>
<summary>${texts.cancel}</summary>
<p>${texts.sure}</p>
<form method="post"><button>${texts.cancel}</button></form>
</details>`,
  });
}

function renderMove({ language, tag }: Reader, { timeZone }: ManagedAppointment, times: readonly Date[]): Html {
  const texts = APPOINTMENT_TEXTS[language];
  const format = new Intl.DateTimeFormat(tag, {
    weekday: "short",
    day: "numeric",
    month: "long",
    hour: "numeric",
    minute: "2-digit",
    timeZone,
  });
  return html`<details>
<summary>${texts.move}</summary>
<form method="post"><p><label>${texts.newTime} <select name="start">${times.map(
    (time) => html`<option value="${time.toISOString()}">${format.format(time)}</option>`,
  )}</select></label></p><button class="primary">${texts.move}</button></form>
</details>`;
}

export function renderMeetingPage(reader: Reader, appointment: ManagedAppointment): PlainPage {
  const texts = APPOINTMENT_TEXTS[reader.language];
  if (appointment.canceledAt !== null)
    return renderClosed(reader, appointment, { title: texts.canceledTitle, text: texts.canceled });
  return toPage(reader, {
    title: `${texts.meetingTitle} – ${appointment.businessName}`,
    body: html`<p class="business">${appointment.businessName}</p>
<h1>${texts.meetingTitle}</h1>
${renderFacts(reader, appointment)}
<p class="note">${texts.sandbox}</p>`,
  });
}

export function renderUnknownLinkPage(reader: Reader): PlainPage {
  const texts = APPOINTMENT_TEXTS[reader.language];
  return {
    language: reader.language,
    title: texts.unknownTitle,
    body: html`<h1>${texts.unknownTitle}</h1>
<p>${texts.unknown}</p>`,
  };
}

function renderClosed(
  reader: Reader,
  appointment: ManagedAppointment,
  said: { title: string; text: string },
): PlainPage {
  return toPage(reader, {
    title: `${said.title} – ${appointment.businessName}`,
    body: html`<p class="business">${appointment.businessName}</p>
<h1>${said.title}</h1>
<p>${said.text}</p>
${renderFacts(reader, appointment)}`,
  });
}

function renderFacts({ language, tag }: Reader, appointment: ManagedAppointment): Html {
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

function toPage({ language }: Reader, { title, body }: { title: string; body: Html }): PlainPage {
  return { language, title, body: html`<p class="test">${APPOINTMENT_TEXTS[language].test}</p>${body}` };
}
