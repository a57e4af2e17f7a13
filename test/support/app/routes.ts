import assert from "node:assert/strict";
import type { FastifyInstance } from "fastify";

const INDENT = 4;

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The pattern of every route in the app with this method, with `:name` and `*` for path parameters. */
export async function listRoutes(app: FastifyInstance, method: Method): Promise<string[]> {
  await app.ready();
  const urls: string[] = [];
  const parents: string[] = [];
  for (const line of app.printRoutes({ method }).split("\n")) {
    const match = /^([│ ]*)[├└]── (.*?)( \([A-Z, -]+\))?$/.exec(line);
    if (!match) continue;
    const [, indent = "", part = "", methods] = match;
    const depth = indent.length / INDENT;
    const url = `${depth === 0 ? "" : (parents[depth - 1] ?? "")}${part}`;
    parents[depth] = url;
    if (methods !== undefined) urls.push(url);
  }
  // Parsed from the printed route tree, so make sure it was parsed correctly.
  for (const url of urls) assert.ok(app.hasRoute({ url, method }), url);
  return urls;
}
