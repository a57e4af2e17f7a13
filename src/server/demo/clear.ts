import { withinTransaction } from "../db/within-transaction.ts";
import type { Deps } from "../deps.ts";
import { DEMO_ID, DEMO_PEOPLE } from "./practice.ts";
import {
  deleteOrganization,
  deleteRowsOf,
  deleteStrandedUsers,
  holdRecording,
  ORGANIZATION_TABLES,
} from "./queries.ts";

/** Deletes the demo organization with all its rows and people, and nothing else. False if there is none. */
export async function clearDemo({ db }: Pick<Deps, "db">): Promise<boolean> {
  return await withinTransaction(db, async (transaction) => {
    await holdRecording(transaction, DEMO_ID);
    for (const table of ORGANIZATION_TABLES) await deleteRowsOf(transaction, DEMO_ID, table);
    await deleteStrandedUsers(
      transaction,
      DEMO_PEOPLE.map(({ email }) => email),
    );
    return await deleteOrganization(transaction, DEMO_ID);
  });
}
