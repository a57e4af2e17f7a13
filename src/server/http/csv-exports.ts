import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { pause } from "../lib/concurrency/pause.ts";
import { Semaphore } from "../lib/concurrency/semaphore.ts";
import { ApiError } from "./errors/api-error.ts";
import { isDryRun, type Query } from "./parameters.ts";

const PER_ORGANIZATION_MAX = 2;
/** Most of these wait for their clients. */
const PER_PROCESS_MAX = 20;
/** How many pieces of files are read at the same time. More would make visitors wait. */
const PIECES_AT_ONCE = 2;
/** A client that takes longer for a piece, some 100 KB, is cut off: slow ones could hold every place of the process. */
export const PIECE_TAKEN_MS_MAX = MINUTE_MS;
const RETRY_AFTER = { "retry-after": "15" };

type CsvFile = {
  /** Gets the ending. */
  readonly fileName: string;
  readonly lines: Iterable<string> | AsyncIterable<string>;
};

/** The CSV files that this process sends. Organizations take turns, so that exports neither hold up visitors nor each other. */
export class CsvExports {
  readonly #log: Deps["log"];
  readonly #pieceTakenMsMax: number;
  readonly #sending: OrganizationId[] = [];
  readonly #pieces = new Semaphore(PIECES_AT_ONCE);

  constructor({ log }: Pick<Deps, "log">, pieceTakenMsMax: number) {
    this.#log = log;
    this.#pieceTakenMsMax = pieceTakenMsMax;
  }

  /** Streams a file as the client takes it. `prepare` runs once there is a place for it, and not in a dry run. */
  async send(
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
    { owner, prepare }: { owner: OrganizationId; prepare: () => Promise<CsvFile> },
  ): Promise<FastifyReply> {
    this.#requirePlace(owner);
    if (isDryRun(request.query as Query)) return reply.code(204).send();
    this.#sending.push(owner);
    const leave = () => void this.#sending.splice(this.#sending.indexOf(owner), 1);
    try {
      const { fileName, lines } = await this.#pieces.run(owner, prepare);
      const pieces = this.#readInTurn(owner, lines, () => reply.raw.destroy());
      const file = Readable.from(pieces, { objectMode: true, highWaterMark: 1 });
      file.once("close", leave);
      // The answer has begun, so it can only be cut off. A client that disconnected is not an error.
      file.once("error", (error) => {
        if (!request.raw.destroyed)
          this.#log.error("export.failed", { requestId: request.id, organizationId: owner, error });
      });
      return reply
        .type("text/csv; charset=utf-8")
        .header("content-disposition", `attachment; filename="${fileName}.csv"`)
        .send(file);
    } catch (error) {
      leave();
      throw error;
    }
  }

  #requirePlace(owner: OrganizationId): void {
    if (this.#sending.filter((each) => each === owner).length >= PER_ORGANIZATION_MAX)
      throw new ApiError(
        "rate_limited",
        `Your organization is already exporting ${PER_ORGANIZATION_MAX} files. Wait until one of them is downloaded.`,
        RETRY_AFTER,
      );
    if (this.#sending.length >= PER_PROCESS_MAX)
      throw new ApiError("unavailable", "Too many files are being exported. Try again in a minute.", RETRY_AFTER);
  }

  async *#readInTurn(owner: OrganizationId, lines: CsvFile["lines"], cutOff: () => void): AsyncGenerator<string> {
    const pieces = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
    for (;;) {
      const { done, value } = await this.#pieces.run(owner, async () => await pieces.next());
      if (done) return;
      const taken = new AbortController();
      void pause(this.#pieceTakenMsMax, taken.signal).then(() => taken.signal.aborted || cutOff());
      try {
        yield value;
      } finally {
        taken.abort();
      }
    }
  }
}
