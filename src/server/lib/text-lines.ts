/** One line of a text file, without its ending, or what is wrong with it as the rest of a sentence. */
export type TextLine = { text: string } | { fault: string };

const MIB = 1024 * 1024;
const LINE_LIMIT_MIB = 16;
const LINE_FEED = 0x0a;

/**
 * The lines of a UTF-8 file. Only a line feed ends one: JSON may hold U+2028 and its like as they are. Bytes that are not
 * UTF-8 are a fault and not quietly replaced, since a file in another encoding would come in with every name mangled.
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

/** The decoder takes a byte order mark away, which some editors put at a file's beginning. */
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
