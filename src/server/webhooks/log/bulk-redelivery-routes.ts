import type { FastifyInstance } from "fastify";
import { AppRedelivery, AppRedeliveryList, NewRedelivery, RedeliveryCount } from "#contract/app/deliveries.ts";
import { type OrganizationId, parseRedeliveryId, type RedeliveryId } from "#contract/ids.ts";
import { memberOf } from "../../accounts/auth/member-auth.ts";
import { auditBy } from "../../audit/audit-by.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, FieldsError, notFound } from "../../http/api-error.ts";
import { bodyReader } from "../../http/body.ts";
import { BULK_REDELIVER_REFUSALS } from "../endpoints/refusal-texts.ts";
import { cancelRedelivery, countRedelivery, type RedeliveryRefusal, startRedelivery } from "./bulk-redelivery.ts";
import { listRedeliveries } from "./bulk-redelivery-queries.ts";
import { toAppRedelivery, toFilter } from "./to-app-redelivery.ts";

type RouteDeps = Pick<Deps, "db" | "clock" | "random" | "log">;
type WithRedelivery = { Params: { redelivery: string } };

const SHOWN = 20;

export function redeliveryAppRoutes(api: FastifyInstance, deps: RouteDeps): void {
  const readNewRedelivery = bodyReader(NewRedelivery);
  const requireFilter = (wanted: NewRedelivery) => {
    const filter = toFilter(wanted, deps.clock.now());
    if ("faults" in filter) throw new FieldsError(filter.faults);
    return filter;
  };

  api.get("/redeliveries", { schema: { response: { 200: AppRedeliveryList } } }, async (request) => {
    const rows = await listRedeliveries(deps.db, memberOf(request).organizationId, { limit: SHOWN });
    return { data: rows.map(toAppRedelivery) };
  });

  api.get<WithRedelivery>(
    "/redeliveries/:redelivery",
    { schema: { response: { 200: AppRedelivery } } },
    async (request) => {
      const id = requireRedeliveryId(request.params.redelivery);
      return await readRedelivery(deps.db, memberOf(request).organizationId, id);
    },
  );

  api.post("/redeliveries/count", { schema: { response: { 200: RedeliveryCount } } }, async (request) => {
    const { organizationId, plan } = memberOf(request);
    const filter = requireFilter(readNewRedelivery(request));
    const outcome = await countRedelivery(deps, { id: organizationId, plan }, filter);
    if (outcome.kind !== "counted") throw toError(outcome);
    return { matched: outcome.matched };
  });

  api.post("/redeliveries", { schema: { response: { 202: AppRedelivery } } }, async (request, reply) => {
    const member = memberOf(request);
    const owner = { id: member.organizationId, plan: member.plan };
    const filter = requireFilter(readNewRedelivery(request));
    const audit = auditBy(deps, member, deps.clock.now());
    const outcome = await startRedelivery(deps, owner, filter, (transaction, { id, matched }) =>
      audit(transaction, {
        action: "deliveries.redelivered",
        target: id,
        detail: { deliveries: matched, since: filter.from },
      }),
    );
    if (outcome.kind !== "started") throw toError(outcome);
    return reply.code(202).send(await readRedelivery(deps.db, owner.id, outcome.id));
  });

  api.delete<WithRedelivery>("/redeliveries/:redelivery", async (request, reply) => {
    const member = memberOf(request);
    const id = requireRedeliveryId(request.params.redelivery);
    await readRedelivery(deps.db, member.organizationId, id);
    const audit = auditBy(deps, member, deps.clock.now());
    const isCanceled = await cancelRedelivery(deps, member.organizationId, id, (transaction) =>
      audit(transaction, { action: "redelivery.canceled", target: id }),
    );
    if (!isCanceled) throw new ApiError("conflict", "This redelivery has already ended.");
    return reply.code(204).send();
  });
}

function toError({ kind }: RedeliveryRefusal): ApiError {
  return kind === "no_endpoint" ? notFound("Endpoint") : new ApiError(kind, BULK_REDELIVER_REFUSALS[kind]);
}

async function readRedelivery(db: Db, owner: OrganizationId, id: RedeliveryId): Promise<AppRedelivery> {
  const [row] = await listRedeliveries(db, owner, { id, limit: 1 });
  if (!row) throw notFound("Redelivery");
  return toAppRedelivery(row);
}

function requireRedeliveryId(text: string): RedeliveryId {
  const id = parseRedeliveryId(text);
  if (id === null) throw notFound("Redelivery");
  return id;
}
