import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { planIncludes } from "#contract/plans.ts";
import type { KeyHolder } from "../../api-keys/bearer-auth.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/api-error.ts";
import { Batcher, type BatcherLimits } from "../../lib/concurrency/batcher.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { toKeptSince } from "../../plans/kept-since.ts";
import { type ApiPage, type KeyedPage, type KeyedPageRow, type PageFilter, selectKeyedPages } from "./page-queries.ts";

// One statement checks the key and reads the page, and concurrent requests share it. It needs the key's organization
// and plan, which are remembered from the key's last request. The statement checks both again: if the key was revoked
// or its plan has changed, it returns no page and the key is looked up again.

const KEYS_REMEMBERED = 10_000;
/** Larger pages use a separate statement, so that small ones don't wait for them. */
const SHARED_LIMIT_MAX = 20;
const SHARED: BatcherLimits = { batchMax: 16, itemsMax: 5_000, atOnce: 2, waitMs: 5_000 };

export type PageRequest = { since: Date | null; before: Date | null; limit: number };

export class PageReader {
  readonly #db: Deps["db"];
  readonly #known = new RecentMap<string, { owner: OrganizationId; plan: Plan }>(KEYS_REMEMBERED);
  readonly #shared: Batcher<KeyedPage, KeyedPageRow | null>;

  constructor(deps: Pick<Deps, "db">) {
    this.#db = deps.db;
    this.#shared = new Batcher(SHARED, (pages) => readPages(deps.db, pages));
  }

  remember(keyHash: Buffer, holder: KeyHolder): void {
    const { organizationId: owner, plan } = holder;
    if (planIncludes(plan, "readApi")) this.#known.set(keyHash.toString("latin1"), { owner, plan });
  }

  /** Null if the key is not remembered, is no longer valid, or its plan has changed. */
  async readKnown(
    keyHash: Buffer,
    request: PageRequest & { now: Date },
  ): Promise<{ holder: KeyHolder; page: ApiPage } | null> {
    const known = this.#known.get(keyHash.toString("latin1"));
    if (!known) return null;
    const row = await this.#read({ keyHash, ...known, ...toPageFilter(known.plan, request), now: request.now });
    if (!row) return null;
    const { owner: organizationId, plan } = known;
    return { holder: { id: row.keyId, organizationId, plan }, page: row };
  }

  async #read(page: KeyedPage): Promise<KeyedPageRow | null> {
    if (page.limit > SHARED_LIMIT_MAX) return (await readPages(this.#db, [page]))[0] ?? null;
    const read = await this.#shared.submit(page);
    if (read.kind === "done") return read.result;
    throw new ApiError("unavailable", "The service is busy. Please try again.", { "retry-after": "5" });
  }
}

/** Retention also holds at read time. */
export function toPageFilter(plan: Plan, request: PageRequest & { now: Date }): PageFilter {
  const keptSince = toKeptSince(plan, request.now);
  const createdFrom = request.since && request.since > keptSince ? request.since : keptSince;
  return { createdFrom, createdBefore: request.before, limit: request.limit };
}

async function readPages(db: Deps["db"], pages: readonly KeyedPage[]): Promise<(KeyedPageRow | null)[]> {
  const found: (KeyedPageRow | null)[] = pages.map(() => null);
  for (const row of await selectKeyedPages(db, pages)) found[row.item] = row;
  return found;
}
