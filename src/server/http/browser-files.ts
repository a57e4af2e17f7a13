import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { DAY_MS } from "#contract/durations.ts";
import { ApiError } from "./api-error.ts";

/** Hashed names: what is under an address never changes. */
const YEAR_MS = 365 * DAY_MS;

/** Scripts and styles that `npm run build` made, compressed where the browser takes that. Pages have routes of their own. */
export async function serveBrowserFiles(
  app: FastifyInstance,
  { folder, address }: { folder: string; address: string },
): Promise<void> {
  await app.register(fastifyStatic, {
    root: folder,
    prefix: address,
    decorateReply: false,
    index: false,
    allowedPath: (path) => !path.endsWith(".html"),
    preCompressed: true,
    immutable: true,
    maxAge: YEAR_MS,
  });
}

export function notBuilt(): ApiError {
  return new ApiError(
    "unavailable",
    "The pages of this service are not built yet: run `npm run build`, then start it again.",
  );
}
