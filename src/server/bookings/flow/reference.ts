import { type OrganizationId, REFERENCE, type Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { type Random, randomId } from "../../lib/random.ts";
import { reserveReference } from "../stored/queries.ts";

/** With 32^6 references a second try is rare and a tenth means that something else is wrong. */
const MOST_TRIES = 10;

/** A reference that no other booking of any organization has, reserved for this one. */
export async function takeReference(db: Db, owner: OrganizationId, random: Random): Promise<Reference> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const reference = randomId<Reference>(random, REFERENCE);
    if (await reserveReference(db, owner, reference)) return reference;
  }
  throw new Error(`No free reference in ${MOST_TRIES} tries`);
}
