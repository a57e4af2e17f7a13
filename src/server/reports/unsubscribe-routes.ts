import type { FastifyInstance, FastifyRequest } from "fastify";
import { type OrganizationId, parseOrganizationId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { type Html, html } from "../http/pages/html.ts";
import { type PlainPage, sendPlainPage } from "../http/pages/plain-page.ts";
import { deleteByToken, findByToken } from "./queries.ts";

const BODY_BYTES_MAX = 2048;

type TokenRequest = FastifyRequest<{ Params: { organization: string; token: string } }>;

/**
 * /unsubscribe/{organization}/{token}: the link in each report. Opening it only asks, because mail filters open links too.
 * Mail clients send the POST by themselves (RFC 8058), from anywhere and without cookies; the token is the permission.
 */
export async function unsubscribeRoutes(app: FastifyInstance, { db }: Pick<Deps, "db">): Promise<void> {
  const path = "/unsubscribe/:organization/:token";

  app.get(path, { schema: { hide: true } }, async (request: TokenRequest, reply) => {
    const link = parseLink(request.params);
    const period = link && (await findByToken(db, link.owner, link.token));
    const ask = html`<form method="post"><button>Unsubscribe</button></form>`;
    return sendPlainPage(reply, period === null ? INVALID_LINK : toPage(`Unsubscribe from the ${period} report?`, ask));
  });

  // In its own scope, because other routes don't accept forms.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The body says only List-Unsubscribe=One-Click, as either kind of form.
    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data"])
      scope.addContentTypeParser(type, { parseAs: "string" }, (_request, _body, done) => done(null));
    scope.post(path, { bodyLimit: BODY_BYTES_MAX, schema: { hide: true } }, async (request: TokenRequest, reply) => {
      const link = parseLink(request.params);
      if (link) await deleteByToken(db, link.owner, link.token);
      return sendPlainPage(reply, DONE);
    });
  });
}

/** Null if no report can have this link. */
function parseLink({ organization, token }: TokenRequest["params"]): { owner: OrganizationId; token: string } | null {
  const owner = parseOrganizationId(organization);
  return owner && /^[0-9A-Za-z]+$/.test(token) ? { owner, token } : null;
}

const DONE = toPage(
  "You’re unsubscribed",
  html`<p>You won’t get this report any more. To subscribe again, open Analytics → Email reports.</p>`,
);
/** The link may be truncated, already used, or from an earlier subscription, so this person may still get reports. */
const INVALID_LINK = toPage(
  "This link is no longer valid",
  html`<p>You can change email reports under Analytics in the dashboard.</p>`,
);

function toPage(title: string, content: Html): PlainPage {
  return { title, body: [html`<h1>${title}</h1>`, content] };
}
