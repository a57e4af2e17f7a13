import { DEMO_ID, DEMO_PEOPLE } from "../../src/server/demo/clinic.ts";
import type { DemoCredentials } from "../../src/server/demo/credentials.ts";

type DemoPlaces = { service: string; site: string; receiver: string; dataDir: string };

/** A visitor who comes from an ad, to try out attribution. */
const CAMPAIGN = "utm_source=google&utm_medium=cpc&utm_campaign=autumn-check-up&gclid=Cj0KCQiAdemoClickId0123456789";

export function describeReady(places: DemoPlaces, credentials: DemoCredentials, seconds: number): string {
  const { service, site, receiver } = places;
  const others = DEMO_PEOPLE.slice(1).map(({ email, role }) => `${email} (${role})`);
  const curl = (path: string) => `  curl -s -H "Authorization: Bearer $KEY" "${service}/api/v1/${path}"`;
  return `
The demo is ready (${seconds.toFixed(1)} s).

  Dashboard     ${service}/app/${DEMO_ID}
    sign in as  ${credentials.email}
    password    ${credentials.password}
    other roles ${others.join(", ")}
  Sample site   ${site}
    from an ad  ${site}/?${CAMPAIGN}
  Receiver      ${receiver}
  Docs          ${service}/docs

Try the read API:

  KEY=${credentials.apiKey}
${curl("widgets")}
${curl("bookings?limit=2")}
${curl("analytics?days=30")}

Book something on the sample site, and watch the webhook and its chat cards arrive at the receiver.
Ctrl-C stops the demo; the next start continues with the same data. To delete the data:

  DATA_DIR=${quote(places.dataDir)} npm run -s bookflow -- demo clear
`;
}

/** Quotes the folder's name for a shell if needed. */
function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
