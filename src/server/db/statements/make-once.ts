import pg from "pg";
import { findConstraint } from "../engine.ts";

const UNIQUE_VIOLATION = "23505";

/** Null if the id already exists: the same request was sent before (http/idempotency-key.ts). */
export async function makeOnce<Made>(make: () => Promise<Made>): Promise<Made | null> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
    if (!findConstraint(error).endsWith("_pkey")) throw error;
    return null;
  }
}
