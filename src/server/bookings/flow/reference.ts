import { type OrganizationId, REFERENCE, type Reference } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { findServer } from "../../db/home.ts";
import { LoggableError } from "../../lib/log/loggable-error.ts";
import { type Random, randomId } from "../../lib/secrets/random.ts";
import { reserveReference } from "../stored/queries.ts";

/** There are 32^6 references, so a second try is rare and ten failures in a row mean a bug. */
const TRIES_MAX = 10;
/** Enough to find one among dozens of servers. */
const DRAWS_MAX = 200;

/** Reserves a reference that no other booking of any organization has. Not in a transaction: another booking may wait for it. */
export async function takeReference(db: Db, owner: OrganizationId, random: Random): Promise<Reference> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const reference = await drawReference(db, owner, random);
    if (await reserveReference(db, owner, reference)) return reference;
  }
  throw new LoggableError("No free reference was found");
}

/** One on the organization's server, so that a booking needs no other server. */
async function drawReference(db: Db, owner: OrganizationId, random: Random): Promise<Reference> {
  const server = await findServer(db, owner);
  for (let draws = 1; ; draws++) {
    const reference = randomId<Reference>(random, REFERENCE);
    if (draws === DRAWS_MAX || (await findServer(db, reference)) === server) return reference;
  }
}
