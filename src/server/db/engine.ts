import { PostgresAdapter, PostgresDialect, type PostgresPool, type QueryCompiler, type RawBuilder, sql } from "kysely";
import type pg from "pg";
import type { OrganizationId } from "#contract/ids.ts";
import { assert } from "../lib/assert.ts";
import { HomeCompiler } from "./citus/home-compiler.ts";
import type { Homes } from "./citus/homes.ts";
import type { ShardGroup } from "./citus/shard-map.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";
import type { Db, Pool } from "./pool.ts";

// Everything that statements do differently on Citus than on plain PostgreSQL.

export type Engine = "postgresql" | "citus";

/** The adapter goes along into transactions, so every statement can tell which engine it runs on. */
class EngineAdapter extends PostgresAdapter {
  readonly pool: Pool;

  constructor(pool: Pool) {
    super();
    this.pool = pool;
  }
}

export class EngineDialect extends PostgresDialect {
  readonly #pool: Pool;
  readonly #group: ShardGroup | null;

  /** `connections` may be a view of the pool. Statements use the tables of the shard group. */
  constructor(pool: Pool, connections: PostgresPool, group: ShardGroup | null = null) {
    super({ pool: connections });
    this.#pool = pool;
    this.#group = group;
  }

  override createQueryCompiler(): QueryCompiler {
    return this.#group ? new HomeCompiler(this.#group) : super.createQueryCompiler();
  }

  override createAdapter(): PostgresAdapter {
    return new EngineAdapter(this.#pool);
  }
}

export function engineOf(db: Db): Engine {
  const { adapter } = db.getExecutor();
  return adapter instanceof EngineAdapter ? adapter.pool.engine : "postgresql";
}

/** The connections that its statements use. */
export function poolOf(db: Db): Pool {
  const { adapter } = db.getExecutor();
  assert(adapter instanceof EngineAdapter, "the database was opened with an EngineDialect");
  return adapter.pool;
}

/** Null on plain PostgreSQL, at home, and in a transaction, which stays where it is. */
export function homesOf(db: Db): Homes | null {
  const { adapter } = db.getExecutor();
  return !db.isTransaction && adapter instanceof EngineAdapter ? adapter.pool.homes : null;
}

/** Rows that one statement may handle together. */
export type StatementGroup<Row> = {
  readonly rows: readonly Row[];
  /** A condition that must stand beside every distributed table of the statement, on its column organization_id. */
  readonly owns: (column: string) => RawBuilder<boolean>;
};

/** Rows of several organizations in groups that one statement may touch. On Citus, a statement that writes names one. */
export function toStatementGroups<Row extends { readonly organizationId: OrganizationId }>(
  db: Db,
  rows: readonly Row[],
): StatementGroup<Row>[] {
  if (rows.length === 0) return [];
  if (engineOf(db) === "postgresql") return [{ rows, owns: () => sql`true` }];
  return [...Map.groupBy(rows, (row) => row.organizationId)].map(([owner, ofOwner]) => ({
    rows: ofOwner,
    owns: (column) => sql`${sql.ref(column)} = ${owner}`,
  }));
}

/**
 * The rows of an organization are being moved to another server, and a statement did not find them, or lost against the move. The
 * servers commit a move one after the other, so for a moment one of them sends statements to the new place while the rows there
 * are not visible yet.
 */
export class OrganizationMoving extends DatabaseUnavailable {
  constructor(cause?: unknown) {
    super("The organization is moving to another server", cause);
  }
}

/** Finds rows that should be there. On Citus they may be on their way to another server: then this throws, or looks again. */
export async function findSettled<T>(
  db: Db,
  owner: OrganizationId,
  { find, isFound }: { find: () => Promise<T>; isFound: (found: T) => boolean },
): Promise<T> {
  const found = await find();
  if (engineOf(db) === "postgresql" || isFound(found)) return found;
  await requireSettled(db, owner);
  return await find();
}

/**
 * On Citus, keeps the organization on its server until the transaction ends. `inOrganization` does this before anything else:
 * after a read, Citus 14 uses the same connection for the rest of the transaction. If a write then waits for a move, it still
 * goes to the old server, and what it wrote is lost.
 */
export async function keepInPlace(transaction: Db, owner: OrganizationId): Promise<void> {
  if (engineOf(transaction) === "postgresql") return;
  // Whatever writes to a shard keeps it in place, even if no row is found.
  await sql`-- prepared: keep_in_place
    delete from visit_progress where organization_id = ${owner} and kept_since = 'infinity'`.execute(transaction);
}

/**
 * On Citus, throws while the organization's rows can't be seen. Needed before a transaction that keeps the organization in place
 * concludes anything from rows that are not there.
 */
export async function requireSettled(db: Db, owner: OrganizationId): Promise<void> {
  if (engineOf(db) === "postgresql") return;
  const { rows } = await sql`
    select from organizations where id = ${owner} and not exists (
      select from visit_progress where visit_progress.organization_id = ${owner}
    )`.execute(db);
  if (rows.length > 0) throw new OrganizationMoving();
}

/** The constraint that a statement violates. On Citus only its message names it, with the shard's number at the end. */
export function findConstraint(error: pg.DatabaseError): string {
  const name = error.constraint ?? /"([^"]+)"/.exec(error.message)?.[1] ?? "";
  return name.replace(/_\d{6,}$/, "");
}

/**
 * Where the rows of an `insert … select` belong. Citus runs such a statement on the organization's server only if it takes the
 * organization from a distributed table: select `id` as organization_id, and append `join` to the from clause.
 */
export function toCitusHome(owner: OrganizationId): { id: RawBuilder<unknown>; join: RawBuilder<unknown> } {
  const row = sql`(select organization_id as home_id from visit_progress where organization_id = ${owner})`;
  return { id: sql`home_id`, join: sql`cross join ${row} home` };
}
