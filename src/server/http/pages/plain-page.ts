import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyReply } from "fastify";
import { type HtmlPart, html, renderHead, trustMarkup } from "./html.ts";

// Small pages that need no other file: the links of appointments, unsubscribing, unknown addresses, and the test page of a widget.

export type PlainPage = {
  readonly title: string;
  readonly body: HtmlPart;
  readonly language?: string;
  /** For a page with our own loader; other pages run no script, whatever the name of a service contains. */
  readonly hasLoader?: true;
};

const CSS = readFileSync(new URL("./plain-page.css", import.meta.url), "utf8");

/** Allows our styles and forms to our own origin. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(CSS).digest("base64")}'`,
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const LOADER_POLICY = "; script-src 'self'; frame-src 'self'";

export function sendPlainPage(reply: FastifyReply, shown: PlainPage): FastifyReply {
  const { title, body, language = "en", hasLoader } = shown;
  const page = html`<!doctype html>
<html lang="${language}">
<head>
${renderHead(title, [])}
<style>${trustMarkup(CSS)}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return (
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", `${CONTENT_SECURITY_POLICY}${hasLoader ? LOADER_POLICY : ""}`)
      .header("x-robots-tag", "noindex")
      // The link may be a secret, so other sites never see it. Our own form still sends its origin.
      .header("referrer-policy", "same-origin")
      .send(page.toString())
  );
}
