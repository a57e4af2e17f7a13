import type { AuditAction } from "#contract/app/audit.ts";
import { ENDPOINT_DESCRIPTION_LENGTH_MAX } from "#contract/app/endpoints.ts";
import { ENDPOINT_KINDS } from "#contract/endpoint.ts";
import { type EndpointId, type OrganizationId, parseDeliveryId, parseEndpointId } from "#contract/ids.ts";
import { auditByOperator } from "../audit/audit-by.ts";
import { findOrganization, type OrganizationRow } from "../organizations/queries.ts";
import { auditEndpoint, auditRedelivery } from "../webhooks/endpoints/audit.ts";
import {
  type Alongside,
  addEndpoint,
  type Refusal,
  removeEndpoint,
  sendTestEvent,
} from "../webhooks/endpoints/endpoints.ts";
import { findDeliveryOwner, findEndpointOwner, listEndpoints } from "../webhooks/endpoints/queries.ts";
import { describeRefusal, REDELIVER_REFUSALS } from "../webhooks/endpoints/refusal-texts.ts";
import { redeliver } from "../webhooks/log/redeliver.ts";
import { parseChoice, parseText, requireOrganization } from "./arguments.ts";
import type { Command, CommandContext } from "./command.ts";
import { UsageError } from "./usage-error.ts";

export const ENDPOINT_COMMANDS: readonly Command[] = [
  {
    name: "endpoint add",
    usage: `endpoint add --org ORG --url U --kind ${ENDPOINT_KINDS.join("|")} [--description D]`,
    summary: "send new bookings to a URL; prints the signing secret, which is shown only once",
    options: ["org", "url", "kind", "description"],
    positionals: 0,
    async run(context) {
      const { args } = context;
      const organization = await requireOrganization(context.db, args.required("org"));
      const description = args.option("description");
      const wanted = {
        url: args.required("url"),
        kind: parseChoice("kind", args.required("kind"), ENDPOINT_KINDS),
        description: description === null ? "" : parseText("description", description, ENDPOINT_DESCRIPTION_LENGTH_MAX),
      };
      const outcome = await addEndpoint(
        context,
        organization,
        wanted,
        audited(context, organization.id, "endpoint.added"),
      );
      if (outcome.kind !== "added") throw toUsageError(outcome);
      const { id, secret } = outcome;
      return {
        text: `Added endpoint ${id}. Save its signing secret now; it won't be shown again:\n${secret}`,
        json: { id, secret },
      };
    },
  },
  {
    name: "endpoint remove",
    usage: "endpoint remove ID",
    summary: "remove an endpoint and cancel its queued deliveries",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      const alongside = audited(context, owner.id, "endpoint.removed");
      if (!(await removeEndpoint(context, owner.id, id, alongside))) throw new UsageError(NO_ENDPOINT);
      return { text: `Removed endpoint ${id}.`, json: { id } };
    },
  },
  {
    name: "endpoint list",
    usage: "endpoint list --org ORG",
    summary: "list an organization's endpoints; chat URLs are shown in part",
    options: ["org"],
    positionals: 0,
    async run({ db, args }) {
      const organization = await requireOrganization(db, args.required("org"));
      const endpoints = (await listEndpoints(db, organization.id)).map((row) => ({
        id: row.id,
        kind: row.kind,
        url: row.url,
        description: row.description,
        status: row.status,
        disabledReason: row.disabled_reason,
        lastStatus: row.last_status,
        lastSuccessAt: row.last_success_at?.toISOString() ?? null,
        createdAt: row.created_at.toISOString(),
      }));
      const lines = endpoints.map(({ id, kind, status, url }) => `${id}  ${kind}  ${status}  ${url}`);
      return { text: lines.join("\n") || "No endpoints.", json: endpoints };
    },
  },
  {
    name: "endpoint test",
    usage: "endpoint test ID",
    summary: "send a test event to an endpoint; the delivery log shows the result",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      const outcome = await sendTestEvent(context, owner, id, audited(context, owner.id, "endpoint.tested"));
      if (outcome.kind !== "queued") throw toUsageError(outcome);
      const { deliveryId } = outcome;
      return { text: `Queued test delivery ${deliveryId} to endpoint ${id}.`, json: { id, deliveryId } };
    },
  },
  {
    name: "delivery redeliver",
    usage: "delivery redeliver ID",
    summary: "send a finished delivery again",
    options: [],
    positionals: 1,
    async run(context) {
      const id = parseDeliveryId(context.args.positional[0] ?? "");
      const owner = id && (await findOwner(context, await findDeliveryOwner(context.db, id)));
      if (!owner) throw new UsageError(NO_DELIVERY);
      const alongside = auditRedelivery(auditByOperator(context, owner.id, context.clock.now()));
      const outcome = await redeliver(context, owner, id, alongside);
      if (outcome.kind === "not_found") throw new UsageError(NO_DELIVERY);
      if (outcome.kind !== "queued") throw new UsageError(REDELIVER_REFUSALS[outcome.kind]);
      return { text: `Queued delivery ${id} for redelivery.`, json: { id } };
    },
  },
];

function audited(context: CommandContext, owner: OrganizationId, action: AuditAction): Alongside {
  return auditEndpoint(auditByOperator(context, owner, context.clock.now()), action);
}

const NO_ENDPOINT = "No endpoint has this ID. Endpoint IDs look like we_….";
const NO_DELIVERY = "No delivery has this ID. Delivery IDs are UUIDs, as in the Service-Delivery header.";

async function requireEndpoint(context: CommandContext): Promise<{ id: EndpointId; owner: OrganizationRow }> {
  const id = parseEndpointId(context.args.positional[0] ?? "");
  const owner = id && (await findOwner(context, await findEndpointOwner(context.db, id)));
  // A secret pasted here by mistake must not end up on the screen again.
  if (!owner) throw new UsageError(NO_ENDPOINT);
  return { id, owner };
}

async function findOwner({ db }: CommandContext, id: OrganizationRow["id"] | null): Promise<OrganizationRow | null> {
  return id && (await findOrganization(db, id));
}

function toUsageError(refusal: Refusal): UsageError {
  return new UsageError(refusal.kind === "not_found" ? NO_ENDPOINT : describeRefusal(refusal));
}
