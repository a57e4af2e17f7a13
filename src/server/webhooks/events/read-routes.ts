import { CHOSEN_EVENT_TYPES } from "#contract/endpoint.ts";
import { EventsQuery } from "#contract/read-api.ts";
import { EventTypeList, WebhookEventPage } from "#contract/webhook-event.ts";
import { callerOf } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { type Query, readChoice, readInstant, readPageSize } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { toLogKeptSince } from "../log/period.ts";
import { listEventTypes } from "./event-types.ts";
import { readEventPage } from "./read-page.ts";

const EVENT_TYPES = listEventTypes();

export function eventReadRoutes(api: ReadApi, deps: Pick<Deps, "db" | "clock">): void {
  api.get(
    "/event-types",
    {
      schema: {
        operationId: "listEventTypes",
        summary: "List event types",
        description: "Every type of event that webhooks receive, with its JSON Schema and an example.",
        response: readApiResponses(EventTypeList, "All event types."),
      },
    },
    async (_, reply) => reply.type("application/json; charset=utf-8").send(JSON.stringify({ data: EVENT_TYPES })),
  );

  api.get(
    "/events",
    {
      schema: {
        operationId: "listEvents",
        summary: "List events",
        description:
          "The events of the last 30 days, as webhook endpoints receive them, oldest first in the order in which they became " +
          "visible. Send nextCursor back as cursor to get what came after it, at once or days later: no event is ever skipped. " +
          "Events about a booking disappear when it is erased. Test events of endpoints aren't included.",
        querystring: EventsQuery,
        response: readApiResponses(WebhookEventPage, "One page of events."),
      },
    },
    async (request, reply) => {
      const { organizationId: owner } = callerOf(request);
      const query = request.query as Query;
      const now = deps.clock.now();
      const cursor = readInstant(query, "cursor", "down");
      const since = readInstant(query, "since", "down");
      const type = readChoice(query, "type", CHOSEN_EVENT_TYPES);
      const limit = readPageSize(query, "limit");
      const keptSince = toLogKeptSince(now);
      const page = await readEventPage(deps.db, owner, {
        types: type === null ? CHOSEN_EVENT_TYPES : [type],
        createdFrom: cursor === null && since && since > keptSince ? since : keptSince,
        listedAfter: cursor,
        limit,
        now,
      });
      // The bodies are JSON already.
      const data = page.bodies.map(String).join(",");
      const nextCursor = page.nextCursor.toISOString();
      return reply
        .type("application/json; charset=utf-8")
        .send(`{"data":[${data}],"nextCursor":"${nextCursor}","hasMore":${page.hasMore}}`);
    },
  );
}
