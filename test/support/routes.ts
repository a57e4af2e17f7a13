import assert from "node:assert/strict";
import type { FastifyInstance } from "fastify";

const INDENT = 4;

/** The pattern of every GET route of the app, `:name` and `*` where a part of the path is a parameter. */
export async function listGetRoutes(app: FastifyInstance): Promise<string[]> {
  await app.ready();
  const urls: string[] = [];
  const parents: string[] = [];
  for (const line of app.printRoutes({ method: "GET", commonPrefix: false }).split("\n")) {
    const match = /^([│ ]*)[├└]── (.*?)( \([A-Z, -]+\))?$/.exec(line);
    if (!match) continue;
    const [, indent = "", part = "", methods] = match;
    const depth = indent.length / INDENT;
    const url = `${depth === 0 ? "" : (parents[depth - 1] ?? "")}${part}`;
    parents[depth] = url;
    // Of a wildcard the picture loses part of the path; those serve files and pages, and take no id.
    if (methods !== undefined && part !== "*") urls.push(url);
  }
  // Read from a picture of the routes, so make sure that it was read right.
  for (const url of urls) assert.ok(app.hasRoute({ url, method: "GET" }), url);
  return urls;
}
