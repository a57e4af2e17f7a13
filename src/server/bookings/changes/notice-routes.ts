import { hash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parseConnectionId, parseOrganizationId } from "#contract/ids.ts";
import { ApiError, notFound } from "../../http/errors/api-error.ts";
import { toClientNetwork } from "../../http/limits/client-network.ts";
import { limitByNetwork, rateLimited, SharedLimiter } from "../../http/limits/rate-limit.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { type OpenDeps, openNotice } from "../../scheduler/scheduler.ts";
import { findReferences, markDue } from "./check-queries.ts";

type NoticeRequest = FastifyRequest<{ Params: { organization: string; connection: string }; Body: Buffer | undefined }>;

/** Several times what a system sends. */
const BODY_MAX_BYTES = 128 * 1024;
/** For one connection. No business changes so many appointments; what is refused is found by polling. */
const NOTICES_PER_MINUTE = 600;
/** A system sends those of all its customers from a few networks. */
const NETWORK_PER_MINUTE = 3_000;
const SEEN_MAX = 10_000;

/**
 * POST /change-notices/{organization}/{connection}: a scheduling system says that an appointment was cancelled or moved. The
 * appointment is then read, so a notice that is forged, repeated or late changes nothing by itself.
 */
export async function noticeRoutes(app: FastifyInstance, deps: OpenDeps): Promise<void> {
  const { clock } = deps;
  const networks = limitByNetwork(NETWORK_PER_MINUTE);
  const connections = new SharedLimiter({ perMinute: NOTICES_PER_MINUTE });
  /** The same notice once more says nothing new. */
  const seen = new RecentMap<string, true>(SEEN_MAX);

  const limitRate = (request: NoticeRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    const network = toClientNetwork(request.ip ?? "");
    const { organization, connection } = request.params;
    const ofNetwork = networks?.take(network, clock.now());
    const verdict =
      ofNetwork?.isAllowed === false
        ? ofNetwork
        : connections.take({ key: `${organization} ${connection}`, network }, clock.now());
    done(verdict.isAllowed ? undefined : rateLimited(verdict, "Too many notices. Wait before sending more."));
  };

  // In its own scope, because signatures are of the bytes as they were sent.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.post(
      "/change-notices/:organization/:connection",
      { bodyLimit: BODY_MAX_BYTES, schema: { hide: true }, onRequest: limitRate },
      async ({ params, headers, body = Buffer.alloc(0) }: NoticeRequest, reply) => {
        const [owner, id] = [parseOrganizationId(params.organization), parseConnectionId(params.connection)];
        const notice = owner && id && (await openNotice(deps, owner, { id, headers, body }));
        if (!notice || notice.kind === "unexpected") throw notFound("Connection");
        if (notice.kind === "forged") throw new ApiError("unauthorized", "The signature is missing or wrong.");
        const key = `${id} ${hash("sha256", body)}`;
        if (!seen.get(key)) {
          const references = await findReferences(deps.db, owner, { id, externalIds: notice.externalIds });
          if (references.length > 0) await markDue(deps.db, owner, { references, now: clock.now() });
          seen.set(key, true);
        }
        return reply.code(204).send();
      },
    );
  });
}
