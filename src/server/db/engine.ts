import { PostgresAdapter, PostgresDialect, type PostgresPool, type QueryCompiler } from "kysely";
import type pg from "pg";
import { assert } from "../lib/assert.ts";
import { HomeCompiler } from "./citus/home-compiler.ts";
import type { Homes } from "./citus/homes.ts";
import type { ShardGroup } from "./citus/shard-map.ts";
import { DatabaseUnavailable } from "./connections/database-unavailable.ts";
import type { Db, Pool } from "./connections/pool.ts";

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

/**
 * The rows of an organization are being moved to another server, and a statement did not find them, or lost against the move. The
 * servers commit a move one after the other, so for a moment one of them sends statements to the new place while the rows there
 * are not visible yet.
 */
export class OrganizationMoving extends DatabaseUnavailable<"The organization is moving to another server"> {
  constructor(cause?: unknown) {
    super("The organization is moving to another server", cause);
  }
}

/** The constraint that a statement violates. On Citus only its message names it, with the shard's number at the end. */
export function findConstraint(error: pg.DatabaseError): string {
  const name = error.constraint ?? /"([^"]+)"/.exec(error.message)?.[1] ?? "";
  return name.replace(/_\d{6,}$/, "");
}
