import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { toAcceptedLanguage } from "../../http/pages/accepted-language.ts";
import { sendPlainPage } from "../../http/pages/plain-page.ts";
import type { SchedulerDeps } from "../scheduler-deps.ts";
import { cancelByManageToken, findByJoinToken, findByManageToken } from "./manage.ts";
import { requireOwnForm } from "./own-form.ts";
import { type Reader, renderManagePage, renderMeetingPage, renderUnknownLinkPage } from "./render-appointment.ts";

type LinkRequest = FastifyRequest<{ Params: { token: string } }>;

/**
 * /manage/{token} and /meet/{token}: the pages behind the links of sandbox appointments. Cancelling changes only the
 * appointment in the sandbox. A stored booking is a copy of what was confirmed; the contract has no other status.
 */
export async function appointmentRoutes(
  app: FastifyInstance,
  deps: Pick<Deps, "db" | "clock"> & { readonly scheduler: SchedulerDeps },
): Promise<void> {
  const { db, clock } = deps;
  const links = { db, clock, baseUrl: deps.scheduler.baseUrl };

  app.get("/manage/:token", { schema: { hide: true } }, async (request: LinkRequest, reply) => {
    const appointment = await findByManageToken(links, request.params.token);
    if (!appointment) return sendUnknown(request, reply);
    return sendPlainPage(reply, renderManagePage(readReader(request), appointment, clock.now()));
  });

  app.get("/meet/:token", { schema: { hide: true } }, async (request: LinkRequest, reply) => {
    const appointment = await findByJoinToken(links, request.params.token);
    if (!appointment) return sendUnknown(request, reply);
    return sendPlainPage(reply, renderMeetingPage(readReader(request), appointment));
  });

  // In its own scope, because other routes don't accept forms.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The form has no fields, but its body is read anyway: a chunked body is only limited while it is read.
    scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, _body, done) =>
      done(null),
    );
    scope.post("/manage/:token", { bodyLimit: 1024, schema: { hide: true } }, async (request: LinkRequest, reply) => {
      requireOwnForm(request);
      const outcome = await cancelByManageToken(links, request.params.token);
      if (outcome.kind === "not_found") return sendUnknown(request, reply);
      // The page shows the result. Redirecting to it means that a reload doesn't cancel again.
      return reply.redirect(`/manage/${encodeURIComponent(request.params.token)}`, 303);
    });
  });

  function sendUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendPlainPage(reply.code(404), renderUnknownLinkPage(readReader(request)));
  }
}

function readReader(request: FastifyRequest): Reader {
  return toAcceptedLanguage(request.headers["accept-language"]);
}
