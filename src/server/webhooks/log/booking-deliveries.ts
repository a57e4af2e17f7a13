import type { AppDelivery } from "#contract/app/deliveries.ts";
import type { EndpointId, OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { type EndpointName, listEndpointNames } from "../endpoints/queries.ts";
import { toLogKeptSince } from "./period.ts";
import { listDeliveries } from "./queries.ts";
import { toAppDelivery } from "./to-app-delivery.ts";

/** A booking has one event when it is made and one for each change, each with one delivery per endpoint. */
const DELIVERIES_MAX = 100;

export async function listBookingDeliveries(
  db: Db,
  owner: OrganizationId,
  { reference, seesCustomers, now }: { reference: Reference; seesCustomers: boolean; now: Date },
): Promise<AppDelivery[]> {
  const rows = await listDeliveries(db, owner, { reference, keptSince: toLogKeptSince(now), limit: DELIVERIES_MAX });
  const endpoints = await readEndpointNames(db, owner);
  return rows.map((row) => toAppDelivery(row, { seesCustomers, endpoints }));
}

export async function readEndpointNames(db: Db, owner: OrganizationId): Promise<ReadonlyMap<EndpointId, EndpointName>> {
  return new Map((await listEndpointNames(db, owner)).map((endpoint) => [endpoint.id, endpoint]));
}
