import pg from "pg";
import { type FixedText, LoggableError } from "../../lib/log/loggable-error.ts";

/**
 * The database can't be reached, does not answer, or has no free connection. The statement may be tried again later.
 */
export class DatabaseUnavailable<const T extends string = never> extends LoggableError<T> {
  override name = "DatabaseUnavailable";
  readonly code?: string;

  constructor(message: FixedText<T>, cause?: unknown) {
    super(message, { cause });
    const code = (cause as { code?: unknown } | undefined)?.code;
    if (typeof code === "string") this.code = code;
  }
}

/**
 * Whether PostgreSQL itself is in trouble: lost connection (08), out of disk, memory or connections (53), shutting down
 * or starting (57P), system error (58), or a read-only standby (25006).
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof pg.DatabaseError)) return false;
  return /^(?:08|53|57P|58|25006)/.test(error.code ?? "") || isTroubleOfCitus(error);
}

/**
 * On Citus, these have no code of their own: a connection between two servers that broke during a statement or between two of a
 * transaction, and a shard that was split after the statement was planned.
 */
const CITUS_ROUTINES = new Set([
  "ReportResultError",
  "CheckRemoteTransactionsHealth",
  "MarkRemoteTransactionFailed",
  "LookupShardRelationFromCatalog",
]);

function isTroubleOfCitus({ code, routine }: pg.DatabaseError): boolean {
  return code === "XX000" && CITUS_ROUTINES.has(routine ?? "");
}
