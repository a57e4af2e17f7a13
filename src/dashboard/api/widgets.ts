import { ask } from "./call.ts";

export const widgetsKey = (organization: string) => [organization, "widgets"] as const;

export const widgetsQuery = (organization: string) => ask("listWidgets", widgetsKey(organization), { organization });

export const widgetQuery = (organization: string, widget: string) =>
  ask("getWidget", [...widgetsKey(organization), widget], { organization, params: { widget } });

/** How much the widget has collected while it was not live. */
export const testDataQuery = (organization: string, widget: string) =>
  ask("clearTestData", [...widgetsKey(organization), widget, "test-data"], {
    organization,
    params: { widget },
    body: { dryRun: true },
  });

export const widgetServicesQuery = (organization: string, widget: string) =>
  ask("listWidgetServices", [...widgetsKey(organization), widget, "services"], { organization, params: { widget } });
