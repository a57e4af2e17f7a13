import { type OrganizationId, REFERENCE, type Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { type Random, randomId } from "../../lib/secrets/random.ts";
import { reserveReference } from "../stored/queries.ts";

/** There are 32^6 references, so a second try is rare and ten failures in a row mean a bug. */
const TRIES_MAX = 10;

/** Reserves a reference that no other booking of any organization has. */
export async function takeReference(db: Db, owner: OrganizationId, random: Random): Promise<Reference> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const reference = randomId<Reference>(random, REFERENCE);
    if (await reserveReference(db, owner, reference)) return reference;
  }
  throw new Error(`No free reference in ${TRIES_MAX} tries`);
}
