import type { ReplyHeaders, ReplySink } from "../../sending/sending.ts";

/** How much of a reply the delivery log keeps. */
export const REPLY_KEPT_BYTES = 4_096;
const KEPT_HEADER_LENGTH_MAX = 200;
const KEPT_HEADERS_MAX = 32;

type KeptReply = {
  readonly body: string;
  /** The body was longer than what is kept, or incomplete. */
  readonly truncated: boolean;
  readonly retryAfter: string | null;
  /** The first few, each shortened; cookies are masked. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Collects a reply: copies the bytes to keep and counts the rest. */
export class ReplyReader implements ReplySink {
  status: number | null = null;
  #readBytes = 0;
  #retryAfter: string | null = null;
  #headers: Record<string, string> = {};
  #keptBytes = 0;
  #kept: Buffer[] = [];

  start(status: number, headers: ReplyHeaders): void {
    this.status = status;
    this.#retryAfter = toKeptHeader(headers["retry-after"]);
    this.#headers = toKeptHeaders(headers);
  }

  read(chunk: Buffer): void {
    this.#readBytes += chunk.length;
    const room = REPLY_KEPT_BYTES - this.#keptBytes;
    if (room === 0) return;
    // A copy, because a slice would hold on to the socket's whole read buffer.
    const part = Buffer.from(chunk.subarray(0, room));
    this.#kept.push(part);
    this.#keptBytes += part.length;
  }

  toKept({ isComplete }: { isComplete: boolean }): KeptReply {
    const isWhole = isComplete && this.#readBytes === this.#keptBytes;
    const { text, truncated } = toReplyText(Buffer.concat(this.#kept), isWhole);
    return { body: text, truncated, retryAfter: this.#retryAfter, headers: this.#headers };
  }
}

const wholeDecoder = new TextDecoder();
/** Most bytes that one UTF-16 unit takes in UTF-8. */
const UTF8_BYTES_MAX = 3;

/**
 * The kept start of a reply as text that PostgreSQL accepts: invalid UTF-8 and NUL become U+FFFD, and the text is at most
 * REPLY_KEPT_BYTES of UTF-8, cut between characters. `isWhole`: `bytes` is the whole body.
 */
export function toReplyText(bytes: Buffer, isWhole: boolean): { text: string; truncated: boolean } {
  const part = bytes.subarray(0, REPLY_KEPT_BYTES);
  // In streaming mode the decoder drops an incomplete last character instead of replacing it, and can't be used again.
  const decoded = isWhole ? wholeDecoder.decode(part) : new TextDecoder().decode(part, { stream: true });
  const text = decoded.replaceAll("\0", "\ufffd");
  if (text.length * UTF8_BYTES_MAX <= REPLY_KEPT_BYTES) return { text, truncated: !isWhole };
  const encoded = Buffer.from(text);
  if (encoded.length <= REPLY_KEPT_BYTES) return { text, truncated: !isWhole };
  let end = REPLY_KEPT_BYTES;
  while (isContinuation(encoded.readUInt8(end))) end--;
  return { text: encoded.toString("utf8", 0, end), truncated: true };
}

function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}

function toKeptHeaders(headers: ReplyHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  let count = 0;
  for (const name in headers) {
    if (++count > KEPT_HEADERS_MAX) break;
    const value = MASKED_HEADERS.has(name) ? "…" : toKeptHeader(headers[name]);
    if (value !== null) kept[name.slice(0, KEPT_HEADER_LENGTH_MAX).toWellFormed()] = value;
  }
  return kept;
}

const MASKED_HEADERS: ReadonlySet<string> = new Set(["set-cookie", "set-cookie2"]);

function toKeptHeader(value: string | string[] | undefined): string | null {
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined ? null : first.slice(0, KEPT_HEADER_LENGTH_MAX).toWellFormed();
}
