import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { DAY_MS } from "#contract/durations.ts";
import { ApiError } from "./api-error.ts";
import { nothingHere } from "./error-handler.ts";

/** Hashed names: what is under an address never changes. */
const YEAR_MS = 365 * DAY_MS;
const PATH_LENGTH_MAX = 200;

/** Scripts and styles that `npm run build` made, compressed where the browser takes that. Pages have routes of their own. */
export async function serveBrowserFiles(
  app: FastifyInstance,
  { folder, address }: { folder: string; address: string },
): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook("onRequest", (request, _reply, done) => {
      const { "*": path = "" } = request.params as { "*"?: string };
      return isFileName(path) ? done() : done(nothingHere());
    });
    await scope.register(fastifyStatic, {
      root: folder,
      prefix: address,
      decorateReply: false,
      index: false,
      preCompressed: true,
      immutable: true,
      maxAge: YEAR_MS,
    });
  });
}

/** As the build names files. For a path that climbs out of the folder, or holds a null, the static server has errors of its own. */
function isFileName(path: string): boolean {
  if (path.length > PATH_LENGTH_MAX || path.endsWith(".html")) return false;
  return /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/.test(path);
}

export function notBuilt(): ApiError {
  return new ApiError(
    "unavailable",
    "The browser files are not built yet. Run `npm run build`, then start Bookflow again.",
  );
}
