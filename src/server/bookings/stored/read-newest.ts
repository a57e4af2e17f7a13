import type { FastifyRequest } from "fastify";
import type { OrganizationId } from "#contract/ids.ts";
import { callerOf } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { readPage } from "../../http/paging.ts";
import { type Query, readInstant, readPageSize } from "../../http/parameters.ts";
import { toKeptSince } from "../../organizations/organizations.ts";

type Range = { from: Date; before: Date | null; limit: number };

/** A page of what happened to bookings, newest first, with `since`, `cursor` and `limit`. Retention also holds at read time. */
export async function readNewest<Item>(
  deps: Pick<Deps, "clock">,
  request: FastifyRequest,
  {
    list,
    toCursor,
  }: { list: (owner: OrganizationId, range: Range) => Promise<Item[]>; toCursor: (item: Item) => string },
): Promise<{ data: Item[]; nextCursor: string | null }> {
  const { organizationId: owner, plan } = callerOf(request);
  const query = request.query as Query;
  const [since, before] = [readInstant(query, "since", "down"), readInstant(query, "cursor", "up")];
  const keptSince = toKeptSince(plan, deps.clock.now());
  const from = since && since > keptSince ? since : keptSince;
  const { rows: data, nextCursor } = await readPage({
    limit: readPageSize(query, "limit"),
    read: (limit) => list(owner, { from, before, limit }),
    toCursor,
  });
  return { data, nextCursor };
}
