import type { Deps } from "../../deps.ts";
import { deleteExpired } from "./session-queries.ts";

/** Background task: sign-ins, links and invitations whose time is over. They open nothing any more; this only clears them away. */
export async function sweepAccounts(deps: Pick<Deps, "db" | "clock">): Promise<void> {
  await deleteExpired(deps.db, deps.clock.now());
}
