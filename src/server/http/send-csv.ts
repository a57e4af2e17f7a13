import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";

type Lines = Iterable<string> | AsyncIterable<string>;

/** Streams a CSV file as the client takes it. `fileName` gets the ending. */
export function sendCsv(
  deps: Pick<Deps, "log">,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { owner, fileName, lines }: { owner: OrganizationId; fileName: string; lines: Lines },
): FastifyReply {
  const file = Readable.from(lines, { objectMode: true, highWaterMark: 1 });
  // The answer has begun, so it can only be cut off. A client that disconnected is not an error.
  file.once("error", (error) => {
    if (!request.raw.destroyed)
      deps.log.error("export.failed", { requestId: request.id, organizationId: owner, error });
  });
  return reply
    .type("text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="${fileName}.csv"`)
    .send(file);
}
