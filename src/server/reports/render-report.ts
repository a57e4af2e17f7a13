import { type Html, html } from "../http/pages/html.ts";
import { CHART_COLORS, CHART_SIZE, drawChart } from "./chart.ts";
import type { Report } from "./read-report.ts";
import { type ReportWords, toShortDay, toWords } from "./report-words.ts";

type ReportLinks = { analytics: string; endpoints: string; unsubscribe: string };
type RenderedReport = { subject: string; text: string; html: string; chart: { cid: string; png: Buffer } };

const CHART_ID = "chart@bookflow";

/** The email with a report. Mail clients know neither stylesheets nor modern layout, so styles are inline and boxes are tables. */
export function renderReport(report: Report, organization: string, links: ReportLinks): RenderedReport {
  const words = toWords(report);
  const { daily } = report.analytics;
  const { png, top } = drawChart(daily);
  const [first, last] = [daily[0]?.day ?? "", daily.at(-1)?.day ?? ""];
  const title = `${organization}: ${report.period} report, ${words.days}`;
  const chart = renderChart({ top, first: toShortDay(first), last: toShortDay(last) });
  return {
    subject: title,
    text: toText(words, title, links),
    html: renderPage({ organization, words, chart, links }).toString(),
    chart: { cid: CHART_ID, png },
  };
}

function toText({ totals, lists, lost, failing }: ReportWords, title: string, links: ReportLinks): string {
  const section = (heading: string, lines: readonly string[]) => [heading, ...lines.map((line) => `  ${line}`), ""];
  return [
    title,
    "",
    ...totals.map(({ label, value, change }) => `${label}: ${value} (${change})`),
    "",
    ...lists.flatMap(({ title: heading, rows }) =>
      section(heading, rows.length === 0 ? ["None"] : rows.map(({ name, inWords }) => `${name}: ${inWords}`)),
    ),
    ...section("Lost bookings", lost),
    ...(failing.length === 0 ? [] : section("Failing endpoints", failing.map(toFailingLine))),
    `View analytics: ${links.analytics}`,
    ...(failing.length === 0 ? [] : [`View endpoints: ${links.endpoints}`]),
    `Unsubscribe: ${links.unsubscribe}`,
    "",
  ].join("\n");
}

const toFailingLine = ({ name, sentence }: ReportWords["failing"][number]) => `${name}: ${sentence}`;

const FONT = "font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif";
const QUIET = "color:#5b6472;font-size:13px;line-height:18px";

function renderPage(page: { organization: string; words: ReportWords; chart: Html; links: ReportLinks }): Html {
  const { organization, words, chart, links } = page;
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${organization}: ${words.days}</title></head>
<body style="margin:0;background-color:#f3f4f7;${FONT}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background-color:#f3f4f7"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" style="width:100%;max-width:600px;background-color:#ffffff;border-radius:8px;color:#1b2130;text-align:left">
<tr><td style="padding:28px 24px 4px">
<h1 style="margin:0;font-size:22px;line-height:28px">${organization}</h1>
<p style="margin:4px 0 0;${QUIET}">${words.days}</p>
</td></tr>
<tr><td style="padding:12px 24px">${renderTotals(words.totals)}</td></tr>
<tr><td style="padding:12px 24px">${chart}</td></tr>
${words.lists.map((list) => html`<tr><td style="padding:12px 24px">${renderList(list)}</td></tr>`)}
<tr><td style="padding:12px 24px">${renderHeading("Lost bookings")}${words.lost.map(renderLine)}</td></tr>
${
  words.failing.length === 0
    ? null
    : html`<tr><td style="padding:12px 24px">${renderHeading("Failing endpoints")}${words.failing.map(
        ({ name, sentence }) => renderLine(html`<strong>${name}</strong><br>${sentence}`),
      )}${renderLine(html`<a href="${links.endpoints}" style="color:#0b5c6f">View endpoints</a>`)}</td></tr>`
}
<tr><td style="padding:16px 24px 28px"><a href="${links.analytics}" style="display:inline-block;padding:11px 18px;border-radius:6px;background-color:#0b5c6f;color:#ffffff;font-size:15px;font-weight:600;text-decoration:none">View analytics</a></td></tr>
</table>
<p style="margin:16px 0 0;${QUIET}">You’re receiving this email because you subscribed to reports for ${organization}.<br>
<a href="${links.unsubscribe}" style="color:#5b6472">Unsubscribe</a></p>
</td></tr></table>
</body>
</html>`;
}

function renderTotals(totals: ReportWords["totals"]): Html {
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0">${totals.map(
    ({ label, value, change }) =>
      html`<tr><td style="padding:7px 0;border-bottom:1px solid #e4e7ec;font-size:15px">${label}<br><span style="${QUIET}">${change}</span></td><td align="right" style="padding:7px 0;border-bottom:1px solid #e4e7ec;font-size:20px;font-weight:600;white-space:nowrap">${value}</td></tr>`,
  )}</table>`;
}

/** The scale and the first and last day are text beside the picture, so that screen readers and blocked pictures show them. */
function renderChart({ top, first, last }: { top: number; first: string; last: string }): Html {
  const { width, height } = CHART_SIZE;
  const mark = (color: string, label: string) =>
    html`<span style="display:inline-block;width:10px;height:10px;border-radius:2px;background-color:${color}"></span> ${label}&nbsp;&nbsp; `;
  return html`${renderHeading("Views and bookings by day")}
<p style="margin:0 0 8px;${QUIET}">${mark(CHART_COLORS.views, "Views")}${mark(CHART_COLORS.bookings, "Bookings")}</p>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0">
<tr><td valign="top" align="right" style="padding-right:8px;${QUIET};line-height:14px">${top.toLocaleString("en-GB")}</td><td rowspan="2" width="${width}"><img src="cid:${CHART_ID}" width="${width}" height="${height}" alt="Bar chart of views and bookings from ${first} to ${last}" style="display:block;width:100%;max-width:${width}px;height:auto;border:0"></td></tr>
<tr><td valign="bottom" align="right" style="padding-right:8px;${QUIET};line-height:14px">0</td></tr>
<tr><td></td><td><table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td style="${QUIET}">${first}</td><td align="right" style="${QUIET}">${last}</td></tr></table></td></tr>
</table>`;
}

function renderList({ title, rows }: ReportWords["lists"][number]): Html {
  if (rows.length === 0) return html`${renderHeading(title)}${renderLine("None")}`;
  const cell = "padding:5px 0;border-bottom:1px solid #e4e7ec;font-size:14px";
  const head = `padding:0 0 5px;border-bottom:1px solid #e4e7ec;font-weight:400;${QUIET}`;
  return html`${renderHeading(title)}<table width="100%" cellpadding="0" cellspacing="0">
<tr><th align="left" style="${head}">Name</th><th align="right" width="80" style="${head}">Bookings</th><th align="right" width="80" style="${head}">Views</th></tr>
${rows.map(
  ({ name, views, bookings }) =>
    html`<tr><td style="${cell};word-break:break-word">${name}</td><td align="right" style="${cell}">${bookings}</td><td align="right" style="${cell}">${views}</td></tr>`,
)}</table>`;
}

function renderHeading(text: string): Html {
  return html`<h2 style="margin:0 0 8px;font-size:16px;line-height:22px">${text}</h2>`;
}

function renderLine(content: Html | string): Html {
  return html`<p style="margin:0 0 6px;font-size:14px;line-height:20px">${content}</p>`;
}
