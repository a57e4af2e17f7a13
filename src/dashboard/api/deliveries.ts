import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import dayjs from "dayjs";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import { call } from "./call.ts";

const DELIVERIES_PER_PAGE = 50;
const SOONEST_MS = 1_000;
const LATEST_MS = 5_000;

type DeliveryFilter = {
  readonly search?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly widget?: string | undefined;
  readonly state?: string | undefined;
  readonly error?: string | undefined;
  readonly redelivery?: string | undefined;
  /** ISO instants. A function, because "the last hour" moves on with every refresh. */
  readonly range?: () => { from?: string | undefined; to?: string | undefined };
  readonly limit?: number;
};

export const deliveriesKey = (organization: string) => [organization, "deliveries"];

/** `name` identifies the filter in the cache. The previous list stays on screen while another one loads. */
export const deliveriesQuery = (organization: string, name: string, filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: [...deliveriesKey(organization), "list", name],
    queryFn: ({ signal, pageParam }) => {
      const { range, limit = DELIVERIES_PER_PAGE, ...filters } = filter;
      // An empty text is no filter.
      const chosen = Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, value || undefined]));
      const query = { ...chosen, ...range?.(), cursor: pageParam ?? undefined, limit: String(limit) };
      return call("listDeliveries", { organization, query, signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => toWait(data?.pages.flatMap((page) => page.data) ?? []),
  });

export const deliveryQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...deliveriesKey(organization), "one", id],
    queryFn: ({ signal }) => call("getDelivery", { organization, params: { delivery: id }, signal }),
    refetchInterval: ({ state: { data } }) => toWait(data ? [data] : []),
  });

const PROGRESS_MS = 2_000;

/** The latest bulk redeliveries; refreshed while one is running or its deliveries are waiting. */
export const redeliveriesQuery = (organization: string) =>
  queryOptions({
    queryKey: [...deliveriesKey(organization), "redeliveries"],
    queryFn: ({ signal }) => call("listRedeliveries", { organization, signal }),
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
