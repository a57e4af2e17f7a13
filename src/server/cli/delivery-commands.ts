import type { NewRedelivery } from "#contract/app/deliveries.ts";
import { describeAttempt } from "#contract/attempt-words.ts";
import {
  ATTEMPT_ERROR_CODES,
  DELIVERY_STATES,
  REDELIVERABLE_STATES,
  type RedeliverableState,
} from "#contract/delivery.ts";
import { type DeliveryId, parseDeliveryId, parseEndpointId, parseRedeliveryId, parseWidgetId } from "#contract/ids.ts";
import { auditByOperator } from "../audit/audit-by.ts";
import { ApiError } from "../http/api-error.ts";
import { findOrganization, type OrganizationRow } from "../organizations/queries.ts";
import { auditRedelivery, auditRetry } from "../webhooks/endpoints/audit.ts";
import { findDeliveryOwner } from "../webhooks/endpoints/queries.ts";
import { BULK_REDELIVER_REFUSALS, REDELIVER_REFUSALS, RETRY_REFUSALS } from "../webhooks/endpoints/refusal-texts.ts";
import { readEndpointNames } from "../webhooks/log/booking-deliveries.ts";
import { cancelRedelivery, startRedelivery } from "../webhooks/log/bulk-redelivery.ts";
import { listRedeliveries } from "../webhooks/log/bulk-redelivery-queries.ts";
import { toLogKeptSince } from "../webhooks/log/period.ts";
import { listAttempts, listDeliveries } from "../webhooks/log/queries.ts";
import { redeliver } from "../webhooks/log/redeliver.ts";
import { retryDelivery } from "../webhooks/log/retry.ts";
import { readSearch } from "../webhooks/log/search.ts";
import { toAppAttempt, toAppDelivery } from "../webhooks/log/to-app-delivery.ts";
import { toAppRedelivery, toFilter } from "../webhooks/log/to-app-redelivery.ts";
import { type Arguments, parseChoice, parseInstant, parseNumber, refuse, requireOrganization } from "./arguments.ts";
import type { Command, CommandContext } from "./command.ts";
import { pluralize } from "./pluralize.ts";
import { UsageError } from "./usage-error.ts";

const SHOWN_DEFAULT = 50;
const ATTEMPTS_SHOWN_MAX = 200;

export const DELIVERY_COMMANDS: readonly Command[] = [
  {
    name: "delivery list",
    usage: `delivery list --org ORG [--search TEXT] [--endpoint ID] [--widget ID] [--state ${DELIVERY_STATES.join("|")}] [--status HTTP] [--error CODE] [--from 2026-11-01T09:30Z] [--to TIME] [--limit COUNT]`,
    summary: "search the delivery log: by reference, event ID, delivery ID or customer's email, and more",
    options: ["org", "search", "endpoint", "widget", "state", "status", "error", "from", "to", "limit"],
    positionals: 0,
    async run({ db, clock, args }) {
      const { id: owner } = await requireOrganization(db, args.required("org"));
      const filter = readFilter(args);
      const rows = await listDeliveries(db, owner, { ...filter, keptSince: toLogKeptSince(clock.now()) });
      const reader = { seesCustomers: true, endpoints: await readEndpointNames(db, owner) };
      const deliveries = rows.map((row) => toAppDelivery(row, reader));
      const lines = deliveries.map(
        ({ id, createdAt, state, reference, event, endpoint }) =>
          `${createdAt}  ${id}  ${state}  ${reference ?? event.type}  ${endpoint.id}`,
      );
      return { text: lines.join("\n") || "No deliveries.", json: deliveries };
    },
  },
  {
    name: "delivery show",
    usage: "delivery show ID",
    summary: "show a delivery with its attempts",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireDelivery(context);
      const { db, clock, config } = context;
      const keptSince = toLogKeptSince(clock.now());
      const [row] = await listDeliveries(db, owner.id, { deliveryId: id, keptSince, limit: 1 });
      if (!row) throw new UsageError(NO_DELIVERY);
      const reader = { seesCustomers: true, endpoints: await readEndpointNames(db, owner.id) };
      const found = await listAttempts(db, owner.id, { deliveryId: id, keptSince, limit: ATTEMPTS_SHOWN_MAX });
      const attempts = found.map((each) => toAppAttempt(each, { ...reader, delivery: row, docsUrl: config.docsUrl }));
      const delivery = toAppDelivery(row, reader);
      const { kind } = delivery.endpoint;
      const lines = attempts.map(
        (each) => `${each.startedAt}  attempt ${each.number}  ${each.result}  ${describeAttempt({ ...each, kind })}`,
      );
      return { text: [`${id}  ${delivery.state}`, ...lines].join("\n"), json: { ...delivery, attempts } };
    },
  },
  {
    name: "delivery redeliver",
    usage: "delivery redeliver ID",
    summary: "send a finished delivery again",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireDelivery(context);
      const alongside = auditRedelivery(auditByOperator(context, owner.id, context.clock.now()));
      const outcome = await redeliver(context, owner, id, alongside);
      if (outcome.kind === "not_found") throw new UsageError(NO_DELIVERY);
      if (outcome.kind !== "queued") throw new UsageError(REDELIVER_REFUSALS[outcome.kind]);
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
      const { id, owner } = await requireDelivery(context);
      const alongside = auditRetry(auditByOperator(context, owner.id, context.clock.now()));
      const outcome = await retryDelivery(context, owner.id, id, alongside);
      if (outcome.kind === "not_found") throw new UsageError(NO_DELIVERY);
      if (outcome.kind !== "retried") throw new UsageError(RETRY_REFUSALS[outcome.kind][1]);
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
      const { db, clock, args } = context;
      const organization = await requireOrganization(db, args.required("org"));
      const filter = toFilter(readNewRedelivery(args), clock.now());
      if ("faults" in filter)
        throw new UsageError(
          Object.entries(filter.faults)
            .map(([name, fault]) => `--${name}: ${fault}`)
            .join(" "),
        );
      const audit = auditByOperator(context, organization.id, clock.now());
      const outcome = await startRedelivery(context, organization, filter, (transaction, { id, matched }) =>
        audit(transaction, {
          action: "deliveries.redelivered",
          target: id,
          detail: { deliveries: matched, since: filter.from },
        }),
      );
      if (outcome.kind === "no_endpoint") throw new UsageError("This organization has no endpoint with this ID.");
      if (outcome.kind !== "started") throw new UsageError(BULK_REDELIVER_REFUSALS[outcome.kind]);
      const [row] = await listRedeliveries(db, organization.id, { id: outcome.id, limit: 1 });
      return {
        text: `Started redelivery ${outcome.id} of ${pluralize(row?.matched ?? 0, "delivery", "deliveries")}.`,
        json: row ? toAppRedelivery(row) : null,
      };
    },
  },
  {
    name: "redelivery list",
    usage: "redelivery list --org ORG",
    summary: "show the progress of the latest bulk redeliveries",
    options: ["org"],
    positionals: 0,
    async run({ db, args }) {
      const { id: owner } = await requireOrganization(db, args.required("org"));
      const redeliveries = (await listRedeliveries(db, owner, { limit: SHOWN_DEFAULT })).map(toAppRedelivery);
      const lines = redeliveries.map(
        ({ id, state, matched, delivered, failed, waiting }) =>
          `${id}  ${state}  ${matched} matched, ${delivered} delivered, ${failed} failed, ${waiting} waiting`,
      );
      return { text: lines.join("\n") || "No redeliveries.", json: redeliveries };
    },
  },
  {
    name: "redelivery cancel",
    usage: "redelivery cancel --org ORG ID",
    summary: "stop a bulk redelivery; deliveries that are already queued are still sent",
    options: ["org"],
    positionals: 1,
    async run(context) {
      const { db, clock, args } = context;
      const { id: owner } = await requireOrganization(db, args.required("org"));
      const id = parseRedeliveryId(args.positional[0] ?? "");
      const audit = auditByOperator(context, owner, clock.now());
      const isCanceled =
        id &&
        (await cancelRedelivery(context, owner, id, (transaction) =>
          audit(transaction, { action: "redelivery.canceled", target: id }),
        ));
      if (!isCanceled) throw new UsageError("No running redelivery has this ID.");
      return { text: `Cancelled redelivery ${id}.`, json: { id } };
    },
  },
];

const NO_DELIVERY = "No delivery has this ID. Delivery IDs are UUIDs, as in the Service-Delivery header.";

async function requireDelivery(context: CommandContext): Promise<{ id: DeliveryId; owner: OrganizationRow }> {
  const id = parseDeliveryId(context.args.positional[0] ?? "");
  const ownerId = id && (await findDeliveryOwner(context.db, id));
  const owner = ownerId && (await findOrganization(context.db, ownerId));
  if (!owner) throw new UsageError(NO_DELIVERY);
  return { id, owner };
}

function readFilter(args: Arguments) {
  const [search, endpoint, widget] = [args.option("search"), args.option("endpoint"), args.option("widget")];
  const [state, status, error] = [args.option("state"), args.option("status"), args.option("error")];
  const [from, to, limit] = [args.option("from"), args.option("to"), args.option("limit")];
  return {
    ...(search === null ? {} : readSearchOrFault(search)),
    ...(endpoint === null ? {} : { endpointId: parseEndpointId(endpoint) ?? refuse("endpoint", "an endpoint ID") }),
    ...(widget === null ? {} : { widgetId: parseWidgetId(widget) ?? refuse("widget", "a widget ID") }),
    ...(state === null ? {} : { state: parseChoice("state", state, DELIVERY_STATES) }),
    ...(status === null ? {} : { status: parseNumber("status", status, { min: 100, max: 999 }) }),
    ...(error === null ? {} : { error: parseChoice("error", error, ATTEMPT_ERROR_CODES) }),
    ...(from === null ? {} : { from: parseInstant("from", from, "down") }),
    ...(to === null ? {} : { to: parseInstant("to", to, "up") }),
    limit: limit === null ? SHOWN_DEFAULT : parseNumber("limit", limit, { min: 1, max: 500 }),
  };
}

function readNewRedelivery(args: Arguments): NewRedelivery {
  const [to, states, endpoint] = [args.option("to"), args.option("states"), args.option("endpoint")];
  const [widget, error] = [args.option("widget"), args.option("error")];
  const toState = (text: string): RedeliverableState => parseChoice("states", text.trim(), REDELIVERABLE_STATES);
  return {
    from: args.required("from"),
    ...(to === null ? {} : { to }),
    ...(states === null ? {} : { states: states.split(",").map(toState) }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(widget === null ? {} : { widget }),
    ...(error === null ? {} : { error: parseChoice("error", error, ATTEMPT_ERROR_CODES) }),
  };
}

function readSearchOrFault(text: string) {
  try {
    return readSearch(text, true);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return refuse("search", "a reference, an event ID, a delivery ID or an email address");
  }
}
