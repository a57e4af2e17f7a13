import { randomUUID } from "node:crypto";
import { BROWSER_STEPS } from "#contract/analytics/steps.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import { BRANCH, CHILDREN, type DemoWidget, DEMO_SITE as SITE, WEBSITE } from "../../src/server/demo/clinic.ts";

// The first bookings of a fresh demo, made the way a browser makes them, so that webhooks are on their way when the first page
// is opened. Loaded history sends no webhooks.

/** A user agent that identifies itself as a program is not counted as a visitor. */
const USER_AGENT =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/604.1";

type Visitor = {
  widget: DemoWidget;
  service: string;
  customer: { name: string; email: string; phone: string | null; notes: string | null };
  answers?: { questionId: string; answer: string }[];
  attribution: Record<string, string | number>;
};

const VISITORS: readonly Visitor[] = [
  {
    widget: WEBSITE,
    service: "Check-up",
    customer: { name: "Jürgen Weiß", email: "juergen.weiss@example.com", phone: "+49 30 23125 417", notes: null },
    attribution: {
      landingPage: `${SITE}/?utm_source=google&utm_medium=cpc&utm_campaign=autumn-check-up&gclid=Cj0KCQiAwtu9BhC8ARIsAI9JHan`,
      utmSource: "google",
      utmMedium: "cpc",
      utmCampaign: "autumn-check-up",
      gclid: "Cj0KCQiAwtu9BhC8ARIsAI9JHan",
      touches: 2,
    },
  },
  {
    widget: CHILDREN,
    service: "Children's check-up",
    customer: {
      name: "Gülşen Öztürk",
      email: "guelsen@example.net",
      phone: null,
      notes: "Can the dragon come too? 🐉",
    },
    answers: [{ questionId: "age", answer: "4" }],
    attribution: { landingPage: `${SITE}/children`, referrer: "https://www.google.com/", touches: 1 },
  },
  {
    widget: WEBSITE,
    service: "First visit",
    customer: {
      name: "Zofia Kowalczyk",
      email: "zofia.kowalczyk@example.org",
      phone: "+49 30 23125 088",
      notes: "I may be five minutes late.",
    },
    answers: [
      { questionId: "topic", answer: "A crown came loose" },
      { questionId: "heard-from", answer: "A friend" },
    ],
    attribution: {
      landingPage: `${SITE}/?utm_source=newsletter&utm_medium=email&utm_campaign=recall-4`,
      utmSource: "newsletter",
      utmMedium: "email",
      utmCampaign: "recall-4",
      touches: 4,
    },
  },
  {
    widget: BRANCH,
    service: "Check-up",
    customer: { name: "Noah O'Brien", email: "noah.obrien@example.com", phone: "+49 30 23125 930", notes: null },
    attribution: { landingPage: `${SITE}/potsdam`, referrer: "https://chatgpt.com/", touches: 1 },
  },
];

export async function bookAsVisitors(baseUrl: string, now: Date): Promise<void> {
  for (const visitor of VISITORS) await book(`${baseUrl}/embed-api/${visitor.widget.id}`, visitor, now);
}

async function book(api: string, visitor: Visitor, now: Date): Promise<void> {
  const { widget, customer, answers = [], attribution } = visitor;
  const { services } = (await ask(`${api}/config`)) as { services: { id: string; name: string }[] };
  const serviceId = services.find(({ name }) => name === visitor.service)?.id ?? "";
  const from = new Date(now.getTime() + DAY_MS).toISOString();
  const to = new Date(now.getTime() + 15 * DAY_MS).toISOString();
  const { slots } = (await ask(`${api}/slots?${new URLSearchParams({ service: serviceId, from, to })}`)) as {
    slots: FreeSlot[];
  };
  const slot = slots[Math.floor(slots.length / 3)];
  if (!slot) return;
  const visit = { visitId: randomUUID(), page: widget.page, attribution };
  const steps = BROWSER_STEPS.filter((step) => step !== "no_availability");
  await ask(`${api}/events`, { ...visit, events: steps.map((step) => ({ step })) });
  const wanted = { serviceId, start: slot.start, timeZone: "Europe/Berlin", locale: "de", customer, answers };
  await ask(`${api}/bookings`, { ...visit, ...wanted });
}

async function ask(url: string, body?: object): Promise<unknown> {
  const headers = { "user-agent": USER_AGENT, "content-type": "application/json", "idempotency-key": randomUUID() };
  const response = await fetch(url, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  if (!response.ok)
    throw new Error(`${url.replace(/\?.*$/, "")} answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? null : await response.json();
}
