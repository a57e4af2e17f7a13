import { parseWidgetId, type WidgetId } from "#contract/ids.ts";
import { isLoopback } from "#contract/loopback.ts";

// The practice Cal.com exists only where nobody outside this machine can reach Bookflow, so that no real customer gets a practice
// appointment: Bookflow listens on this machine only (HOST), and its address (BASE_URL) leads there. The practice Cal.com is at
// /practice-calcom/{widget}, and the widget's sandbox is its calendar.

const PATH = "/practice-calcom";

/** Its calendars are below this address. Null where there is none, and where BASE_URL has a path. */
export function toPracticeUrl({ baseUrl, host }: { baseUrl: string; host: string }): string | null {
  const { hostname, origin, pathname } = new URL(baseUrl);
  return isLoopback(hostname) && isLoopback(host) && pathname === "/" ? `${origin}${PATH}` : null;
}

/** The calendar that an address leads to, and the rest of the path; null for other addresses. The port may have changed since. */
export function parsePracticeUrl(text: string): { widgetId: WidgetId; path: string } | null {
  const url = URL.parse(text);
  const [, start, widget = "", ...rest] = url?.pathname.split("/") ?? [];
  const isPracticeUrl = isLoopback(url?.hostname ?? "") && `/${start}` === PATH;
  const widgetId = isPracticeUrl ? parseWidgetId(widget) : null;
  return widgetId && { widgetId, path: `/${rest.join("/")}` };
}

/** Whether a connection with these settings leads to the practice Cal.com. */
export function isPractice(settings: unknown): boolean {
  // Always written as an object of texts.
  return parsePracticeUrl((settings as Record<string, string>)["apiUrl"] ?? "") !== null;
}
