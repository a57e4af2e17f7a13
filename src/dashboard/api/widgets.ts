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
