import type { IncomingMessage, ServerResponse } from "node:http";
import { parseReference } from "#contract/ids.ts";
import type { Db } from "../../../src/server/db/pool.ts";
import { DEMO_ID, DEMO_ZONE } from "../../../src/server/demo/practice.ts";
import { findAppointment } from "../../../src/server/scheduler/sandbox/queries.ts";
import type { UnlimitedSystem } from "../../../src/server/scheduler/scheduling-system.ts";
import { PRACTICE_USERS, type PracticeUser } from "./practice-user.ts";

const SHOWN = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", timeZone: DEMO_ZONE });

/** Pages for people: the API keys at /, and /booking/{uid}, where a customer cancels a booking as in Cal.com. */
export async function answerPage(
  db: Db,
  visit: { request: IncomingMessage; response: ServerResponse; calendarOf: (user: PracticeUser) => UnlimitedSystem },
): Promise<void> {
  const { request, response, calendarOf } = visit;
  if (request.url === "/") return send(response, 200, describeKeys(request.socket.localPort ?? 0));
  const reference = parseReference(/^\/booking\/([^/?]+)/.exec(request.url ?? "")?.[1] ?? "");
  for (const user of reference ? PRACTICE_USERS : []) {
    const widgetId = user.calendar.id;
    const row = reference && (await findAppointment(db, DEMO_ID, { widgetId, reference }));
    if (!row || !reference) continue;
    if (request.method === "POST") {
      await calendarOf(user).cancel({ externalId: reference, reference }, new AbortController().signal);
      response.writeHead(303, { location: `/booking/${reference}` }).end();
      return;
    }
    const action = row.canceled_at
      ? "<p role=status><strong>This appointment is cancelled.</strong></p>"
      : "<form method=post><button>Cancel appointment</button></form>";
    const service = user.calendar.setup.services.find(({ id }) => id === row.service_id)?.name ?? "";
    send(response, 200, `<h1>${service}</h1><p>${user.name}<br>${SHOWN.format(row.start_at)}</p>${action}`);
    return;
  }
  send(response, 404, "<h1>Page not found</h1><p>Customers get a link to the page of their booking.</p>");
}

/** What someone needs to connect a Bookflow of their own. */
function describeKeys(port: number): string {
  const keys = PRACTICE_USERS.map(({ name, apiKey }) => `<li>${name}: <code>${apiKey}</code></li>`).join("");
  return `<h1>A stand-in for Cal.com</h1>
<p>The demo's appointments are made here. You can connect a Bookflow of your own on this machine too:</p>
<ol>
<li>Start it with <code>WEBHOOK_ALLOW_CIDRS=127.0.0.1/32 npm start</code>, so that it may reach this machine.</li>
<li>Choose Cal.com in the dialog “Add connection”, and paste one of the API keys below.</li>
<li>Open “Advanced” and enter <code>http://127.0.0.1:${port}</code> as the API URL and <code>http://localhost:${port}</code> as the
web app URL.</li>
</ol>
<h2>API keys</h2>
<ul>${keys}</ul>`;
}

function send(response: ServerResponse, status: number, content: string): void {
  response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html><html lang="en">
<title>Demo calendar</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui;max-width:34rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere;color-scheme:light dark}button{font:inherit;padding:.5rem 1rem}</style>
<main>${content}<p><small>This page is the demo's stand-in for Cal.com.</small></p></main></html>`);
}
