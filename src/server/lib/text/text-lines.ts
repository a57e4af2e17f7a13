/** One line of a text file without its line ending, or a fault that completes a sentence. */
export type TextLine = { text: string } | { fault: string };

const MIB = 1024 * 1024;
const LINE_LIMIT_MIB = 16;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * The lines of a UTF-8 file, those that end in one chunk together: waiting for each line by itself takes longer than reading it.
 * Only a line feed ends a line, because JSON may contain U+2028 and similar characters unescaped. Bytes that are not UTF-8 are a
 * fault: replacing them would mangle every name in a file with another encoding.
 */
export async function* toTextLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly TextLine[]> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED);
    if (end !== -1) {
      yield decodeLines(Buffer.concat([...pending, chunk.subarray(0, end)]));
      pending = [];
      pendingBytes = 0;
    }
    pending.push(chunk.subarray(end + 1));
    pendingBytes += chunk.length - (end + 1);
    if (pendingBytes > LINE_LIMIT_MIB * MIB) {
      yield [{ fault: `it is longer than ${LINE_LIMIT_MIB} MB` }];
      return;
    }
  }
  if (pendingBytes > 0) yield decodeLines(Buffer.concat(pending));
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Lines without the last line feed. Decoding them together is faster; if that fails, each is decoded by itself. */
function decodeLines(block: Buffer): TextLine[] {
  const text = decode(block);
  if (text !== null) return text.split("\n").map(toTextLine);
  const lines: TextLine[] = [];
  for (let start = 0; start <= block.length; ) {
    const end = block.indexOf(LINE_FEED, start);
    const line = decode(block.subarray(start, end === -1 ? block.length : end));
    lines.push(line === null ? { fault: "it is not valid UTF-8" } : toTextLine(line));
    start = end === -1 ? block.length + 1 : end + 1;
  }
  return lines;
}

function decode(bytes: Buffer): string | null {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Some editors add a byte order mark at the beginning. */
function toTextLine(line: string): TextLine {
  const start = line.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  return { text: line.slice(start, line.endsWith("\r") ? -1 : undefined) };
}
