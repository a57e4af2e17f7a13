import type { Deps } from "../../deps.ts";
import { deleteExpired } from "./session-queries.ts";

/** Background task: deletes expired sessions, links and invitations. They were already useless before. */
export async function sweepAccounts(deps: Pick<Deps, "db" | "clock">): Promise<void> {
  await deleteExpired(deps.db, deps.clock.now());
}
