import { inTransaction } from "../db/transactions.ts";
import type { Deps } from "../deps.ts";
import { deleteOrganization } from "../organizations/organizations.ts";
import { DEMO_ID, DEMO_PEOPLE } from "./clinic.ts";
import { deleteStrandedUsers } from "./queries.ts";

/** Deletes the demo organization with all its rows and people, and nothing else. False if there is none. */
export async function clearDemo({ db }: Pick<Deps, "db">): Promise<boolean> {
  return await inTransaction(db, async (transaction) => {
    const isDeleted = await deleteOrganization(transaction, DEMO_ID);
    await deleteStrandedUsers(
      transaction,
      DEMO_PEOPLE.map(({ email }) => email),
    );
    return isDeleted;
  });
}
