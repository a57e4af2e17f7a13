import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../http/errors/api-error.ts";

/** In the order of preference. */
const ENCODINGS = ["br", "gzip", "identity"] as const;
type Encoding = (typeof ENCODINGS)[number];

const SUFFIXES: Record<Encoding, string> = { br: ".br", gzip: ".gz", identity: "" };

const HEADERS = {
  "content-type": "text/javascript; charset=utf-8",
  "cache-control": "public, max-age=300, stale-while-revalidate=86400",
  vary: "Accept-Encoding",
  // For pages with cross-origin isolation, and pages that check the script's hash.
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
};

type LoaderFile = { readonly bytes: Buffer; readonly etag: string };

/** GET /loader.js: the script that page owners paste, as `npm run build` put it into `folder`. */
export function loaderRoutes(app: FastifyInstance, folder: URL): void {
  const files = new Map<Encoding, Promise<LoaderFile>>();

  app.get("/loader.js", { schema: { hide: true } }, async (request, reply) => {
    const encoding = toEncoding(request.headers["accept-encoding"]);
    const { bytes, etag } = await load(encoding);
    reply.headers({ ...HEADERS, etag });
    if (encoding !== "identity") reply.header("content-encoding", encoding);
    if (isSame(request.headers["if-none-match"], etag)) return reply.code(304).send();
    return reply.send(bytes);
  });

  /** Cached once the file exists, so that a service started before the build serves it afterwards. */
  async function load(encoding: Encoding): Promise<LoaderFile> {
    const file = files.get(encoding) ?? readLoader(folder, encoding);
    files.set(encoding, file);
    try {
      return await file;
    } catch (error) {
      files.delete(encoding);
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw new ApiError("unavailable", "The loader is not built yet. Run `npm run build`.");
    }
  }
}

async function readLoader(folder: URL, encoding: Encoding): Promise<LoaderFile> {
  const bytes = await readFile(new URL(`loader.js${SUFFIXES[encoding]}`, folder));
  return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` };
}

/** The first encoding the browser accepts, whatever it prefers, because the smaller file arrives sooner. */
function toEncoding(header: string | undefined): Encoding {
  const taken = new Set(
    (header ?? "")
      .toLowerCase()
      .split(",")
      .map((each) => each.replaceAll(" ", ""))
      .filter((each) => !/;q=0(\.0*)?$/.test(each))
      .map((each) => each.replace(/;.*$/, "")),
  );
  return ENCODINGS.find((encoding) => taken.has(encoding)) ?? "identity";
}

function isSame(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? "").split(",").some((each) => each.trim().replace(/^W\//, "") === etag);
}
