import { parseDeliveryId } from "#contract/ids.ts";
import {
  ATTEMPT_ERROR_CODES,
  DELIVERY_STATES,
  describeAttempt,
  REDELIVERABLE_STATES,
} from "#contract/webhooks/delivery.ts";
import { findDeliveryOwner } from "../webhooks/webhooks.ts";
import { choiceOf, listOf, readGiven, requireOrganization, requireOwned } from "./arguments.ts";
import { callRoute } from "./call-route.ts";
import { type Command, type CommandContext, pluralize } from "./command.ts";

const FILTERS = Object.fromEntries(
  ["search", "endpoint", "widget", "state", "status", "error", "from", "to", "limit"].map((name) => [name, String]),
);
const SHOWN = { limit: "50" };

export const DELIVERY_COMMANDS: readonly Command[] = [
  {
    name: "delivery list",
    usage: `delivery list --org ORG [--search TEXT] [--endpoint ID] [--widget ID] [--state ${DELIVERY_STATES.join("|")}] [--status HTTP] [--error CODE] [--from 2026-11-01T09:30Z] [--to TIME] [--limit COUNT]`,
    summary: "search the delivery log: by reference, event ID, delivery ID or customer's email, and more",
    options: ["org", ...Object.keys(FILTERS)],
    positionals: 0,
    async run(context) {
      const { id: owner } = await requireOrganization(context.db, context.args.required("org"));
      const query = { ...SHOWN, ...readGiven(context.args, FILTERS) };
      const { data } = await callRoute(context, owner, "listDeliveries", { query });
      const lines = data.map(
        ({ id, createdAt, state, reference, event, endpoint }) =>
          `${createdAt}  ${id}  ${state}  ${reference ?? event.type}  ${endpoint.id}`,
      );
      return { text: lines.join("\n") || "No deliveries.", json: data };
    },
  },
  {
    name: "delivery show",
    usage: "delivery show ID",
    summary: "show a delivery with its attempts",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner, params } = await requireDelivery(context);
      const { body: _ofTheRequest, ...delivery } = await callRoute(context, owner, "getDelivery", { params });
      const { kind } = delivery.endpoint;
      const lines = delivery.attempts.map(
        (each) => `${each.startedAt}  attempt ${each.number}  ${each.result}  ${describeAttempt({ ...each, kind })}`,
      );
      return { text: [`${id}  ${delivery.state}`, ...lines].join("\n"), json: delivery };
    },
  },
  {
    name: "delivery redeliver",
    usage: "delivery redeliver ID",
    summary: "send a finished delivery again",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner, params } = await requireDelivery(context);
      await callRoute(context, owner, "redeliver", { params });
      return { text: `Queued delivery ${id} for redelivery.`, json: { id } };
    },
  },
  {
    name: "delivery retry",
    usage: "delivery retry ID",
    summary: "retry a delivery now, before its next attempt is due; if that fails, its schedule continues",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner, params } = await requireDelivery(context);
      await callRoute(context, owner, "retryDelivery", { params });
      return { text: `Retrying delivery ${id} now.`, json: { id } };
    },
  },
  {
    name: "redelivery start",
    usage: `redelivery start --org ORG --from 2026-11-01T09:30Z [--to TIME] [--states ${REDELIVERABLE_STATES.join(",")}] [--endpoint ID] [--widget ID] [--error CODE]`,
    summary: "send all matching deliveries again, with retries; failed ones unless --states is given",
    options: ["org", "from", "to", "states", "endpoint", "widget", "error"],
    positionals: 0,
    async run(context) {
      const { args } = context;
      const { id: owner } = await requireOrganization(context.db, args.required("org"));
      const body = { from: args.required("from"), ...readGiven(args, SELECTION) };
      const started = await callRoute(context, owner, "startRedelivery", { body });
      const count = pluralize(started.matched, "delivery", "deliveries");
      return { text: `Started redelivery ${started.id} of ${count}.`, json: started };
    },
  },
  {
    name: "redelivery list",
    usage: "redelivery list --org ORG",
    summary: "show the progress of the latest bulk redeliveries",
    options: ["org"],
    positionals: 0,
    async run(context) {
      const { id: owner } = await requireOrganization(context.db, context.args.required("org"));
      const { data } = await callRoute(context, owner, "listRedeliveries", { query: SHOWN });
      const lines = data.map(
        ({ id, state, matched, delivered, failed, waiting }) =>
          `${id}  ${state}  ${matched} matched, ${delivered} delivered, ${failed} failed, ${waiting} waiting`,
      );
      return { text: lines.join("\n") || "No redeliveries.", json: data };
    },
  },
  {
    name: "redelivery cancel",
    usage: "redelivery cancel --org ORG ID",
    summary: "stop a bulk redelivery; deliveries that are already queued are still sent",
    options: ["org"],
    positionals: 1,
    async run(context) {
      const { id: owner } = await requireOrganization(context.db, context.args.required("org"));
      const [redelivery = ""] = context.args.positional;
      await callRoute(context, owner, "cancelRedelivery", { params: { redelivery } });
      return { text: `Cancelled redelivery ${redelivery}.`, json: { id: redelivery } };
    },
  },
];

const SELECTION = {
  to: String,
  endpoint: String,
  widget: String,
  error: choiceOf(ATTEMPT_ERROR_CODES),
  states: listOf(REDELIVERABLE_STATES),
};

async function requireDelivery(context: CommandContext) {
  const { id, owner } = await requireOwned(context, {
    parse: parseDeliveryId,
    findOwner: findDeliveryOwner,
    unknown: "No delivery has this ID. Delivery IDs are UUIDs, as in the Service-Delivery header.",
  });
  return { id, owner, params: { delivery: id } };
}
