import type { FastifyInstance } from "fastify";
import { APP_PREFIX } from "#contract/app/routes.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import type { Received } from "./read-api.ts";
import type { SignedIn } from "./sign-in.ts";

/** Calls the dashboard API as our own page does. A `null` body is an empty response. */
export async function askApp(
  app: FastifyInstance,
  member: Pick<SignedIn, "headers"> | null,
  route: string,
  body?: object,
): Promise<Received> {
  const [method = "GET", path = ""] = route.split(" ");
  const response = await app.inject({
    method: method as "GET",
    url: APP_PREFIX + path,
    ...(member === null ? {} : { headers: member.headers }),
    ...(body === undefined ? {} : { payload: body }),
  });
  const isJson = String(response.headers["content-type"]).startsWith("application/json");
  return { status: response.statusCode, body: isJson ? response.json() : response.body || null };
}

/** The organization's audit log, newest last, without who and when. */
export async function readAudit(db: Db, owner: OrganizationId): Promise<object[]> {
  const rows = await db
    .selectFrom("audit_entries")
    .select(["action", "target", "detail", "email"])
    .where("organization_id", "=", owner)
    .orderBy("at")
    .execute();
  return rows.map(({ action, target, detail }) => ({ action, target, detail }));
}
