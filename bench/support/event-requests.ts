import { toRequest, UUID } from "./load.ts";
import type { Service } from "./service.ts";

const WIDGETS = 5;
const CAMPAIGNS = 10;
const USER_AGENT =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";

/** Requests with one funnel event each, every one from a new visit, to the widgets of a new organization. */
export async function makeEventRequests(service: Service): Promise<string[]> {
  return toEventRequests(await makeWidgets(service), CAMPAIGNS);
}

async function makeWidgets(service: Service): Promise<string[]> {
  const { id } = await service.command("org", "create", "--name", "Bench", "--time-zone", "Europe/Berlin");
  const widgets: string[] = [];
  for (let n = 1; n <= WIDGETS; n++) {
    const widget = await service.command("widget", "create", "--org", String(id), "--name", `Widget ${n}`);
    widgets.push(String(widget["id"]));
  }
  return widgets;
}

/** One request per widget and campaign. */
export function toEventRequests(widgets: readonly string[], campaigns: number): string[] {
  return widgets.flatMap((widget) =>
    Array.from({ length: campaigns }, (_, n) => {
      const page = `https://www.lindenhof-dental.example/booking?utm_source=google&utm_campaign=autumn-${n}`;
      const attribution = {
        landingPage: page,
        currentPage: page,
        referrer: "https://www.google.com/",
        utmSource: "google",
        utmMedium: "cpc",
        utmCampaign: `autumn-${n}`,
        touches: 1,
      };
      return toRequest({
        method: "POST",
        path: `/embed-api/${widget}/events`,
        headers: { "content-type": "application/json", "user-agent": USER_AGENT },
        body: JSON.stringify({ visitId: UUID, page, attribution, events: [{ step: "widget_viewed" }] }),
      });
    }),
  );
}
