import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { BRANCH, CHILDREN, WEBSITE } from "../../../src/server/demo/clinic.ts";

// The website of the demo's dental clinic: an ordinary small site on its own origin, with the widget in all three modes. It uses
// only what docs/embedding.md tells page owners.

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

/** `service` is Bookflow's base URL. */
export function serveSite(service: string): RequestListener {
  const names: Readonly<Record<string, string>> = {
    service,
    website: WEBSITE.id,
    branch: BRANCH.id,
    children: CHILDREN.id,
  };
  const page = read("index.html").replaceAll(/\{\{([\w-]+)\}\}/g, (_, name: string) => names[name] ?? "");
  const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
    "/": ["text/html; charset=utf-8", page],
    "/site.css": ["text/css; charset=utf-8", read("site.css")],
    "/icon.svg": ["image/svg+xml", read("icon.svg")],
  };
  return (request, response) => {
    const file = files[new URL(request.url ?? "/", "http://site").pathname];
    if (!file || (request.method !== "GET" && request.method !== "HEAD")) {
      response
        .writeHead(file ? 405 : 404, { "content-type": "text/plain" })
        .end(file ? "Not allowed\n" : "Not found\n");
      return;
    }
    const [type, body] = file;
    response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(body);
  };
}
