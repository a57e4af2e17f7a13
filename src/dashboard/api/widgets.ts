import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const widgetsKey = (organization: string) => [organization, "widgets"] as const;

export const widgetsQuery = (organization: string) =>
  queryOptions({
    queryKey: widgetsKey(organization),
    queryFn: ({ signal }) => call("listWidgets", { organization, signal }),
  });

export const widgetQuery = (organization: string, widget: string) =>
  queryOptions({
    queryKey: [...widgetsKey(organization), widget],
    queryFn: ({ signal }) => call("getWidget", { organization, signal, params: { widget } }),
  });

/** How much the widget has collected while it was not live. */
export const testDataQuery = (organization: string, widget: string) =>
  queryOptions({
    queryKey: [...widgetsKey(organization), widget, "test-data"],
    queryFn: ({ signal }) =>
      call("clearTestData", { organization, signal, params: { widget }, body: { dryRun: true } }),
  });

export const widgetServicesQuery = (organization: string, widget: string) =>
  queryOptions({
    queryKey: [...widgetsKey(organization), widget, "services"],
    queryFn: ({ signal }) => call("listWidgetServices", { organization, signal, params: { widget } }),
  });
