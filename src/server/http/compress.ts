import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseWeights } from "./accept.ts";

// Compresses responses if the caller asks for it, but only where no other site can make a browser send the request: the length of
// a compressed response that has both a secret and text from the address reveals the secret (BREACH). See decision 18.

/** Shorter responses fit into one packet anyway. */
const LENGTH_MIN = 1_024;

type Encoding = "zstd" | "br" | "gzip";

/** In our order of preference: all three are quick at these levels, and zstd is the quickest. */
const COMPRESSORS: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  zstd: promisify(zstdCompress),
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body, { level: 5 }),
};
const ENCODINGS = Object.keys(COMPRESSORS) as Encoding[];

/** `isSafe` says of a request that only our own pages and programs can send it. */
export function compressResponses(api: FastifyInstance, isSafe: (request: FastifyRequest) => boolean): void {
  // With a callback: without compression, a promise for every small page would be most of the cost.
  api.addHook("onSend", (request, reply, payload, done) => {
    if (typeof payload !== "string" || payload.length < LENGTH_MIN || !isSafe(request)) return done(null, payload);
    reply.header("vary", "Accept-Encoding");
    const accepted = request.headers["accept-encoding"];
    const encoding = accepted === undefined ? null : chooseEncoding(accepted);
    if (encoding === null) return done(null, payload);
    COMPRESSORS[encoding](Buffer.from(payload)).then(
      (body) => {
        reply.headers({ "content-encoding": encoding, "content-length": body.length });
        done(null, body);
      },
      (error: Error) => done(error),
    );
  });
}

/** The best of those that the header names with the highest weight; null if it names none of ours. */
export function chooseEncoding(header: string): Encoding | null {
  const weights = new Map(parseWeights(header.toLowerCase()));
  const weightOf = (encoding: Encoding) => weights.get(encoding) ?? weights.get("*") ?? 0;
  const best = Math.max(...ENCODINGS.map(weightOf));
  return best > 0 ? (ENCODINGS.find((encoding) => weightOf(encoding) === best) ?? null) : null;
}
