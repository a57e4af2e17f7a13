import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { toAcceptedLanguage } from "../../http/pages/accepted-language.ts";
import type { SchedulerDeps } from "../scheduler-deps.ts";
import { requireOwnForm, sendPage } from "./own-form.ts";
import { cancelByManageToken, findByJoinToken, findByManageToken } from "./manage.ts";
import { type Page, renderManagePage, renderMeetingPage, renderUnknownLinkPage } from "./render-appointment.ts";

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
  const css = readFileSync(new URL("../../http/pages/plain-page.css", import.meta.url), "utf8");
  const stylesheet = `/manage/appointment.css?v=${createHash("sha256").update(css).digest("hex").slice(0, 8)}`;

  app.get("/manage/appointment.css", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=86400").send(css),
  );

  app.get("/manage/:token", { schema: { hide: true } }, async (request: LinkRequest, reply) => {
    const appointment = await findByManageToken(links, request.params.token);
    if (!appointment) return sendUnknown(request, reply);
    return sendPage(reply, renderManagePage(toPage(request), appointment, clock.now()));
  });

  app.get("/meet/:token", { schema: { hide: true } }, async (request: LinkRequest, reply) => {
    const appointment = await findByJoinToken(links, request.params.token);
    if (!appointment) return sendUnknown(request, reply);
    return sendPage(reply, renderMeetingPage(toPage(request), appointment));
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
    return sendPage(reply.code(404), renderUnknownLinkPage(toPage(request)));
  }

  function toPage(request: FastifyRequest): Page {
    return { ...toAcceptedLanguage(request.headers["accept-language"]), stylesheet };
  }
}
