import type { FastifyInstance } from "fastify";
import { NewLogo } from "#contract/app/account.ts";
import { LOGO_BYTES_MAX } from "#contract/app/limits.ts";
import { type OrganizationId, parseOrganizationId } from "#contract/ids.ts";
import { auditBy } from "../audit/audit.ts";
import type { Db } from "../db/pool.ts";
import { inOrganization } from "../db/transactions.ts";
import type { Deps } from "../deps.ts";
import { FieldsError, notFound } from "../http/api-error.ts";
import { deleteLogo, findLogo, saveLogo } from "../organizations/organizations.ts";
import { type Member, memberOf } from "./auth/member-auth.ts";

type LogoDeps = Pick<Deps, "db" | "clock" | "random">;

/** Base64 takes four characters for three bytes. */
const BODY_MAX_BYTES = Math.ceil(LOGO_BYTES_MAX * 1.4);

/** The organization's logo. Behind the member guard. */
export function logoRoutes(app: FastifyInstance, deps: LogoDeps): void {
  app.post<{ Body: NewLogo }>(
    "/organization/logo",
    { bodyLimit: BODY_MAX_BYTES, schema: { body: NewLogo } },
    async (request, reply) => {
      const member = memberOf(request);
      const content = Buffer.from(request.body.picture, "base64");
      const contentType = toPictureType(content);
      if (contentType === null || content.length > LOGO_BYTES_MAX)
        throw new FieldsError({ picture: "Choose a PNG, JPEG or WebP image of at most 200 KB." });
      await change(deps, member, (db, now) => saveLogo(db, member.organizationId, { contentType, content, now }));
      return reply.code(204).send();
    },
  );

  app.delete("/organization/logo", async (request, reply) => {
    const member = memberOf(request);
    await change(deps, member, (db) => deleteLogo(db, member.organizationId));
    return reply.code(204).send();
  });
}

async function change(deps: LogoDeps, member: Member, run: (db: Db, now: Date) => Promise<void>): Promise<void> {
  const now = deps.clock.now();
  await inOrganization(deps.db, member.organizationId, async (transaction) => {
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
