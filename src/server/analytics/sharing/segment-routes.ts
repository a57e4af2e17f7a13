import type { Segment } from "#contract/app/analytics.ts";
import { type OrganizationId, parseSegmentId, SEGMENT_ID, type SegmentId } from "#contract/ids.ts";
import { SEGMENT_NAME_LENGTH_MAX } from "#contract/limits.ts";
import type { Routes } from "../../accounts/accounts.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { makeOnce } from "../../db/statements/make-once.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, notFound } from "../../http/errors/api-error.ts";
import { checkLine, requireFields } from "../../http/errors/check-fields.ts";
import { chooseId } from "../../http/idempotency-key.ts";
import { countLocked, describeCap } from "../../organizations/organizations.ts";
import { requireFilterWidgets } from "../report/filters.ts";
import { toFilterQuery } from "./saved-query.ts";
import { deleteSegment, insertSegment, listSegments, renameSegment, type SegmentRow } from "./segment-queries.ts";

/** More would not fit into a menu. */
const SEGMENTS_MAX = 100;

/** Named sets of filters, which all members of an organization share. */
export function segmentRoutes(routes: Routes, deps: Pick<Deps, "db" | "clock" | "random">): void {
  routes.add("listSegments", async ({ member }) => ({
    data: (await listSegments(deps.db, member.organizationId)).map(toSegment),
  }));

  routes.add("saveSegment", async ({ member, body, request }) => {
    const owner = member.organizationId;
    const now = deps.clock.now();
    const name = checkSegmentName(body.name);
    const { query, filters } = toFilterQuery(body.query);
    if (filters.length === 0) throw new ApiError("bad_request", "A segment needs at least one filter.");
    await requireFilterWidgets(deps.db, owner, filters);
    const id = chooseId<SegmentId>(deps, request, { owner, form: SEGMENT_ID });
    const row = { organization_id: owner, id, name, query, created_at: now };
    const make = async (transaction: Db) => {
      await insertSegment(transaction, row);
      if ((await countLocked(transaction, owner, "segments")) > SEGMENTS_MAX)
        throw new ApiError("conflict", describeCap("segments", SEGMENTS_MAX));
      await auditBy(deps, member, now)(transaction, { action: "segment.created", target: id, name });
    };
    await makeOnce(() => inTransaction(deps.db, make));
    return toSegment(await requireSegment(deps.db, owner, id));
  });

  routes.add("changeSegment", async ({ member, params, body }) => {
    const owner = member.organizationId;
    const name = checkSegmentName(body.name);
    return await inTransaction(deps.db, async (transaction) => {
      const row = await requireSegment(transaction, owner, params.segment);
      await renameSegment(transaction, owner, { id: row.id, name });
      const renamed = { action: "segment.changed", target: row.id, name, formerName: row.name } as const;
      await auditBy(deps, member, deps.clock.now())(transaction, renamed);
      return toSegment({ ...row, name });
    });
  });

  routes.add("deleteSegment", async ({ member, params }) => {
    const id = parseSegmentId(params.segment);
    if (id === null) throw notFound("Segment");
    await inTransaction(deps.db, async (transaction) => {
      const name = await deleteSegment(transaction, member.organizationId, id);
      if (name === null) throw notFound("Segment");
      await auditBy(deps, member, deps.clock.now())(transaction, { action: "segment.deleted", target: id, name });
    });
    return null;
  });
}

function checkSegmentName(typed: string): string {
  return requireFields({ name: checkLine(typed, { lengthMax: SEGMENT_NAME_LENGTH_MAX }) }).name;
}

async function requireSegment(db: Db, owner: OrganizationId, text: string): Promise<SegmentRow> {
  const id = parseSegmentId(text);
  const row = (await listSegments(db, owner)).find((each) => each.id === id);
  if (!row) throw notFound("Segment");
  return row;
}

function toSegment({ id, name, query }: SegmentRow): Segment {
  return { id, name, query };
}
