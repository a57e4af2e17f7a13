import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type OrganizationId, parseOrganizationId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { type Html, html, renderHead, trustMarkup } from "../http/pages/html.ts";
import { deleteByToken, findByToken } from "./queries.ts";

const CSS = `:root{color-scheme:light dark}
body{margin:0;font:16px/1.5 system-ui,sans-serif;background:light-dark(#f3f4f7,#14161b);color:light-dark(#1b2130,#e6e8ee)}
main{max-width:30rem;margin:12vh auto;padding:0 1.25rem}
h1{font-size:1.5rem;line-height:1.25}
button{font:inherit;font-weight:600;padding:.65rem 1.1rem;border:0;border-radius:6px;background:#0b5c6f;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid light-dark(#1b2130,#fff);outline-offset:2px}`;

const STYLE_HASH = createHash("sha256").update(CSS).digest("base64");
const CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

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
    return sendPage(
      reply,
      period === null
        ? DONE
        : {
            title: `Unsubscribe from the ${period} report?`,
            body: html`<form method="post"><button>Unsubscribe</button></form>`,
          },
    );
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
      return sendPage(reply, DONE);
    });
  });
}

/** Null if no report can have this link. */
function parseLink({ organization, token }: TokenRequest["params"]): { owner: OrganizationId; token: string } | null {
  const owner = parseOrganizationId(organization);
  return owner && /^[0-9A-Za-z]+$/.test(token) ? { owner, token } : null;
}

const DONE = { title: "You’re unsubscribed", body: html`<p>You won’t get this report any more.</p>` };

function sendPage(reply: FastifyReply, { title, body }: { title: string; body: Html }): FastifyReply {
  const page = html`<!doctype html>
<html lang="en">
<head>
${renderHead(title, [])}
<style>${trustMarkup(CSS)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", CONTENT_SECURITY_POLICY)
    .header("x-robots-tag", "noindex")
    .header("referrer-policy", "no-referrer")
    .send(page.toString());
}
