import { parseWidgetId, type WidgetId } from "#contract/ids.ts";
import { isLoopback } from "../../lib/safe-link.ts";

// The practice Cal.com exists only where Bookflow's own address (BASE_URL) is on this machine: no visitor from outside can reach a
// widget there, so no real customer can get a pretend appointment. Its addresses are /practice-calcom/{widget}, where the widget's
// sandbox is the calendar.

const PATH = "/practice-calcom";

/** Null where there is none. Its calendars are below this address. */
export function toPracticeUrl(baseUrl: string): string | null {
  return isLoopback(baseUrl) ? `${baseUrl}${PATH}` : null;
}

/** The calendar that an address leads to, and the rest of the path; null for other addresses. The port may have changed since. */
export function parsePracticeUrl(text: string): { widgetId: WidgetId; path: string } | null {
  const url = isLoopback(text) ? URL.parse(text) : null;
  const [, start, widget = "", ...rest] = url?.pathname.split("/") ?? [];
  const widgetId = `/${start}` === PATH ? parseWidgetId(widget) : null;
  return widgetId && { widgetId, path: `/${rest.join("/")}` };
}
