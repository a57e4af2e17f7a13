import type { Socket } from "node:net";

// HTTP says that a client skips 1xx replies it did not ask for. undici does so for all of them except 100, after which it
// closes the connection. So they are dropped from what undici reads. 101 is left to undici: it would change the protocol.

/** An interim reply longer than this is left to undici, which refuses such headers. */
const HELD_BYTES_MAX = 16 * 1_024;
/** The place of the status's first digit in `HTTP/1.1 200`. */
const STATUS_AT = 9;
const DIGIT_ONE = 0x31;

/** `connection.awaitsReply` is set by whoever sends a request, and cleared here when its final reply begins. */
export function skipInterimReplies(socket: Socket, connection: { awaitsReply: boolean }): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer | null = null;
  socket.read = (size) => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null || !connection.awaitsReply) return chunk;
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk]);
      const final = findFinalReply(bytes);
      if (final === null) {
        held = bytes;
        continue;
      }
      held = null;
      if (final === bytes.length) continue;
      connection.awaitsReply = false;
      return final === 0 ? bytes : bytes.subarray(final);
    }
  };
}

/** Where the final reply begins, or the end of the bytes if all of them are interim; null if more bytes must decide it. */
function findFinalReply(bytes: Buffer): number | null {
  let start = 0;
  while (start < bytes.length) {
    if (bytes.length - start <= STATUS_AT) return isStartOfReply(bytes.toString("latin1", start)) ? null : start;
    if (bytes[start + STATUS_AT] !== DIGIT_ONE) return start;
    const statusLine = bytes.toString("latin1", start, start + 12);
    if (statusLine.length === 12 && !INTERIM.test(statusLine)) return start;
    const end = bytes.indexOf("\r\n\r\n", start);
    // undici refuses line feeds without a carriage return. Skipped as one interim reply, they could hide the final one.
    if (hasBareLineFeed(bytes.subarray(start, end < 0 ? bytes.length : end))) return start;
    if (end < 0) return bytes.length - start > HELD_BYTES_MAX ? start : null;
    start = end + 4;
  }
  return start;
}

const INTERIM = /^HTTP\/1\.[01] 1(?!01)[0-9]{2}$/;

function isStartOfReply(text: string): boolean {
  return "HTTP/1.1 ".startsWith(text) || "HTTP/1.0 ".startsWith(text);
}

function hasBareLineFeed(bytes: Buffer): boolean {
  return /(?<!\r)\n/.test(bytes.toString("latin1"));
}
