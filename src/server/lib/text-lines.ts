/** One line of a text file without its line ending, or a fault that completes a sentence. */
export type TextLine = { text: string } | { fault: string };

const MIB = 1024 * 1024;
const LINE_LIMIT_MIB = 16;
const LINE_FEED = 0x0a;

/**
 * The lines of a UTF-8 file. Only a line feed ends a line, because JSON may contain U+2028 and similar characters
 * unescaped. Bytes that are not UTF-8 are a fault: replacing them would mangle every name in a file with another
 * encoding.
 */
export async function* toTextLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<TextLine> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield toTextLine([...pending, chunk.subarray(start, end)]);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > LINE_LIMIT_MIB * MIB) {
      yield { fault: `it is longer than ${LINE_LIMIT_MIB} MB` };
      return;
    }
  }
  if (pendingBytes > 0) yield toTextLine(pending);
}

/** The decoder removes a byte order mark, which some editors add. */
const decoder = new TextDecoder("utf-8", { fatal: true });

function toTextLine(parts: Buffer[]): TextLine {
  try {
    const text = decoder.decode(Buffer.concat(parts));
    return { text: text.endsWith("\r") ? text.slice(0, -1) : text };
  } catch (error) {
    if (error instanceof TypeError) return { fault: "it is not valid UTF-8" };
    throw error;
  }
}
