import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { toAcceptedLanguage } from "../../http/accept.ts";
import { ApiError } from "../../http/errors/api-error.ts";
import { sendPlainPage } from "../../http/pages/plain-page.ts";
import type { Query } from "../../http/parameters.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import {
  cancelByManageToken,
  findByJoinToken,
  findByManageToken,
  listOtherTimes,
  type ManagedAppointment,
  moveByManageToken,
} from "./manage.ts";
import { type Reader, renderManagePage, renderMeetingPage, renderUnknownLinkPage } from "./render-appointment.ts";

type LinkRequest = FastifyRequest<{ Params: { token: string } }>;

/**
 * /manage/{token} and /meet/{token}: the pages behind the links of sandbox appointments. Cancelling and moving
 * change only the appointment in the sandbox; `onChange` then follows it, as it would in any other system.
 */
export async function appointmentRoutes(
  app: FastifyInstance,
  deps: OpenDeps,
  onChange: (appointment: ManagedAppointment) => Promise<unknown>,
): Promise<void> {
  const { clock } = deps;
  const links = { ...deps, baseUrl: deps.scheduler.baseUrl };

  app.get("/manage/:token", { schema: { hide: true } }, async (request: LinkRequest, reply) => {
    const appointment = await findByManageToken(links, request.params.token);
    if (!appointment) return sendUnknown(request, reply);
    const now = clock.now();
    const isOpen = appointment.canceledAt === null && appointment.startAt > now;
    const otherTimes = isOpen ? await listOtherTimes(links, appointment) : [];
    const isTaken = "taken" in (request.query as Query);
    return sendPlainPage(reply, renderManagePage(readReader(request), appointment, { now, otherTimes, isTaken }));
  });

  app.get("/meet/:token", { schema: { hide: true } }, async (request: LinkRequest, reply) => {
    const appointment = await findByJoinToken(links, request.params.token);
    if (!appointment) return sendUnknown(request, reply);
    return sendPlainPage(reply, renderMeetingPage(readReader(request), appointment));
  });

  // In its own scope, because other routes don't accept forms.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) =>
      done(null, body),
    );
    scope.post("/manage/:token", { bodyLimit: 1024, schema: { hide: true } }, async (request: LinkRequest, reply) => {
      requireOwnForm(request);
      const { token } = request.params;
      const page = `/manage/${encodeURIComponent(token)}`;
      const start = new URLSearchParams(String(request.body ?? "")).get("start");
      const startAt = start === null ? null : (parseIsoInstant(start, "down") ?? new Date(0));
      const outcome =
        startAt === null ? await cancelByManageToken(links, token) : await moveByManageToken(links, token, startAt);
      if (outcome.kind === "not_found") return sendUnknown(request, reply);
      await onChange(outcome.appointment);
      // The page shows the result. Redirecting to it means that a reload doesn't repeat the form.
      return reply.redirect(outcome.kind === "taken" ? `${page}?taken` : page, 303);
    });
  });

  function sendUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendPlainPage(reply.code(404), renderUnknownLinkPage(readReader(request)));
  }
}

function readReader(request: FastifyRequest): Reader {
  return toAcceptedLanguage(request.headers["accept-language"]);
}

/** Prevents a form on another site from cancelling, even if that site knew the link. */
function requireOwnForm(request: FastifyRequest): void {
  const { origin, "sec-fetch-site": from } = request.headers;
  const isOwn =
    origin === undefined ? from === undefined || from === "same-origin" : URL.parse(origin)?.host === request.host;
  if (!isOwn) throw new ApiError("forbidden", "Open the link you received and cancel there.");
}
