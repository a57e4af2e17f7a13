import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

const REFRESH_MS = 15_000;

export const overviewQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "overview"],
    queryFn: ({ signal }) => call("getOverview", { organization, signal }),
    refetchInterval: REFRESH_MS,
    // People come back from the booking page in another tab to see the next step.
    refetchOnWindowFocus: "always",
  });
