import { CHOSEN_EVENT_TYPES } from "#contract/endpoint.ts";
import type { ReadRoutes } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { readChoice, readInstant, readPageSize } from "../../http/parameters.ts";
import { toLogKeptSince } from "../log/period.ts";
import { listEventTypes } from "./event-types.ts";
import { readEventPage } from "./read-page.ts";

const EVENT_TYPES = JSON.stringify({ data: listEventTypes() });

export function eventReadRoutes(routes: ReadRoutes, deps: Pick<Deps, "db" | "clock">): void {
  routes.add("listEventTypes", async () => EVENT_TYPES);

  routes.add("listEvents", async ({ caller, query }) => {
    const now = deps.clock.now();
    const cursor = readInstant(query, "cursor", "down");
    const since = readInstant(query, "since", "down");
    const type = readChoice(query, "type", CHOSEN_EVENT_TYPES);
    const limit = readPageSize(query, "limit");
    const keptSince = toLogKeptSince(now);
    const page = await readEventPage(deps.db, caller.organizationId, {
      types: type === null ? CHOSEN_EVENT_TYPES : [type],
      createdFrom: cursor === null && since && since > keptSince ? since : keptSince,
      listedAfter: cursor,
      limit,
      now,
    });
    // The bodies are JSON already.
    const data = page.bodies.map(String).join(",");
    return `{"data":[${data}],"nextCursor":"${page.nextCursor.toISOString()}","hasMore":${page.hasMore}}`;
  });
}
