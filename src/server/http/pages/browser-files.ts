import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { DAY_MS } from "#contract/durations.ts";
import { ACCEPT_LENGTH_MAX } from "../accept.ts";
import { ApiError } from "../errors/api-error.ts";
import { nothingHere } from "../errors/error-handler.ts";

/** The names contain a hash, so the content of an address never changes. */
const YEAR_MS = 365 * DAY_MS;
const PATH_LENGTH_MAX = 200;

/** Scripts and styles from `npm run build`, compressed if the browser accepts that. Pages have their own routes. */
export async function serveBrowserFiles(
  app: FastifyInstance,
  { folder, address }: { folder: string; address: string },
): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook("onRequest", (request, _reply, done) => {
      const { "*": path = "" } = request.params as { "*"?: string };
      const { headers } = request.raw;
      // The static server would spend milliseconds on it.
      if ((headers["accept-encoding"]?.length ?? 0) > ACCEPT_LENGTH_MAX) delete headers["accept-encoding"];
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

/**
 * Only names that the build produces: for paths with `..` or a null byte the static server would send its own errors.
 */
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
