import type { FastifyInstance } from "fastify";
import { type OrganizationId, parseOrganizationId } from "#contract/ids.ts";
import { LOGO_BYTES_MAX } from "#contract/limits.ts";
import { auditBy } from "../audit/audit.ts";
import type { Db } from "../db/connections/pool.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import { FieldsError, notFound } from "../http/errors/api-error.ts";
import { deleteLogo, findLogo, saveLogo } from "../organizations/organizations.ts";
import type { Member } from "./auth/member-auth.ts";
import type { HttpRoutes } from "./auth/route-table.ts";

type LogoDeps = Pick<Deps, "db" | "clock" | "random">;

/** The organization's logo. */
export function logoRoutes(routes: HttpRoutes, deps: LogoDeps): void {
  routes.add("saveLogo", async ({ member, body }) => {
    const content = Buffer.from(body.picture, "base64");
    const contentType = toPictureType(content);
    if (contentType === null || content.length > LOGO_BYTES_MAX)
      throw new FieldsError({ picture: "Choose a PNG, JPEG or WebP image of at most 200 KB." });
    await change(deps, member, (db, now) => saveLogo(db, member.organizationId, { contentType, content, now }));
    return null;
  });

  routes.add("removeLogo", async ({ member }) => {
    await change(deps, member, (db) => deleteLogo(db, member.organizationId));
    return null;
  });
}

async function change(deps: LogoDeps, member: Member, run: (db: Db, now: Date) => Promise<void>): Promise<void> {
  const now = deps.clock.now();
  await inTransaction(deps.db, async (transaction) => {
    await run(transaction, now);
    const entry = {
      action: "organization.changed",
      target: member.organizationId,
      detail: { changed: "logo" },
    } as const;
    await auditBy(deps, member, now)(transaction, entry);
  });
}

/** Goes by the first bytes, because the result is served to visitors under this type. */
function toPictureType(content: Buffer): string | null {
  if (content.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex"))) return "image/png";
  if (content.subarray(0, 3).equals(Buffer.from("ffd8ff", "hex"))) return "image/jpeg";
  const isWebp = content.toString("latin1", 0, 4) === "RIFF" && content.toString("latin1", 8, 12) === "WEBP";
  return isWebp ? "image/webp" : null;
}

const YEAR_SECONDS = 31_536_000;

/** GET /logos/{organization}: public, for booking frames. The address changes with the logo, so it is cached for long. */
export function publicLogoRoutes(app: FastifyInstance, deps: Pick<Deps, "db">): void {
  app.get<{ Params: { organization: string } }>(
    "/logos/:organization",
    { schema: { hide: true } },
    async (request, reply) => {
      const id: OrganizationId | null = parseOrganizationId(request.params.organization);
      const logo = id && (await findLogo(deps.db, id));
      if (!logo) throw notFound("Logo");
      return reply
        .type(logo.content_type)
        .header("cache-control", `public, max-age=${YEAR_SECONDS}, immutable`)
        .send(logo.content);
    },
  );
}
