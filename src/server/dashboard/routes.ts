import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { DASHBOARD_ADDRESS, ENTRY_PAGES } from "#contract/app/addresses.ts";
import type { Deps } from "../deps.ts";
import { notBuilt, serveBrowserFiles } from "../http/pages/browser-files.ts";

/** Where `npm run build` puts the dashboard, and where its scripts and styles are served. */
const FOLDER = fileURLToPath(new URL("../../../dist/assets/dashboard/", import.meta.url));
const ADDRESS = "/assets/dashboard/";

/** All of these get the same page; src/dashboard/routes.tsx picks the screen. */
const PAGES = [DASHBOARD_ADDRESS, `${DASHBOARD_ADDRESS}/*`, ...Object.values(ENTRY_PAGES)];

const NONCE_BYTES = 16;
const NONCE_PLACE = "__STYLE_NONCE__";

export async function dashboardRoutes(app: FastifyInstance, deps: Pick<Deps, "random">): Promise<void> {
  const file = join(FOLDER, "index.html");
  const page = existsSync(file) ? readFileSync(file, "utf8") : null;
  if (page !== null) await serveBrowserFiles(app, { folder: FOLDER, address: ADDRESS });

  app.get("/", { schema: { hide: true } }, async (_request, reply) => reply.redirect(DASHBOARD_ADDRESS, 302));
  for (const url of PAGES) {
    app.get(url, { schema: { hide: true } }, async (_request, reply) => {
      if (page === null) throw notBuilt();
      const nonce = deps.random.bytes(NONCE_BYTES).toString("base64");
      return reply
        .type("text/html; charset=utf-8")
        .header("content-security-policy", toPolicy(nonce))
        .header("x-frame-options", "DENY")
        .header("x-robots-tag", "noindex")
        .header("cross-origin-opener-policy", "same-origin")
        .send(page.replace(NONCE_PLACE, nonce));
    });
  }
}

/** No inline scripts. Style elements need the nonce, which only our own script knows. */
function toPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    // For the live preview of a widget.
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join("; ");
}
