import type { WidgetId } from "./ids.ts";

/** The widgets of the demo. Their sandbox stands for a real scheduling system, so they are live with it. */
export const DEMO_WIDGET_IDS = {
  website: "w_DemoWebsite1" as WidgetId,
  branch: "w_DemoPotsdam1" as WidgetId,
  children: "w_DemoForKids1" as WidgetId,
  landingPage: "w_DemoLanding1" as WidgetId,
};

const IDS: ReadonlySet<string> = new Set(Object.values(DEMO_WIDGET_IDS));

export function isDemoWidget(id: string): boolean {
  return IDS.has(id);
}
