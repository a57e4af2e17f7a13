import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import dayjs from "dayjs";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import { ask, askPages } from "./call.ts";
import type { Query } from "./client.ts";

const SOONEST_MS = 1_000;
const LATEST_MS = 5_000;

export const deliveriesKey = (organization: string) => [organization, "deliveries"];

/** `name` identifies the query in the cache. It is a function, because "the last hour" moves on with every refresh. */
export const deliveriesQuery = (organization: string, name: string, query: () => Query) =>
  infiniteQueryOptions({
    ...askPages("listDeliveries", [...deliveriesKey(organization), "list", name], { organization }, query),
    refetchInterval: ({ state: { data } }) => toWait(data?.pages.flatMap((page) => page.data) ?? []),
  });

export const deliveryQuery = (organization: string, id: string) =>
  queryOptions({
    ...ask("getDelivery", [...deliveriesKey(organization), "one", id], { organization, params: { delivery: id } }),
    refetchInterval: ({ state: { data } }) => toWait(data ? [data] : []),
  });

const PROGRESS_MS = 2_000;

/** The latest bulk redeliveries; refreshed while one is running or its deliveries are waiting. */
export const redeliveriesQuery = (organization: string) =>
  queryOptions({
    ...ask("listRedeliveries", [...deliveriesKey(organization), "redeliveries"], { organization }),
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ state, waiting }) => state === "running" || waiting > 0) ? PROGRESS_MS : false,
  });

export function isPending({ pending, isInFlight }: Pick<AppDelivery, "pending" | "isInFlight">): boolean {
  return pending !== null || isInFlight;
}

/** The refresh interval: soon after the next attempt is due; false when no attempt is pending. */
function toWait(deliveries: readonly AppDelivery[]): number | false {
  const now = dayjs();
  const waits = deliveries
    .filter(isPending)
    .map(({ nextAttemptAt, isInFlight }) => (isInFlight || !nextAttemptAt ? 0 : dayjs(nextAttemptAt).diff(now)));
  return waits.length > 0 && Math.min(Math.max(Math.min(...waits), SOONEST_MS), LATEST_MS);
}
