import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type TextLine, toTextLines } from "./text-lines.ts";

/** The file, passed in chunks of this many bytes. */
async function readInPieces(file: Buffer, pieceBytes: number): Promise<TextLine[]> {
  async function* pieces() {
    for (let start = 0; start < file.length; start += pieceBytes) yield file.subarray(start, start + pieceBytes);
  }
  return (await Array.fromAsync(toTextLines(pieces()))).flat();
}

const CASES: [name: string, file: string, lines: string[]][] = [
  ["an empty file has no lines", "", []],
  ["the last line needs no line ending", "a\nb", ["a", "b"]],
  ["a final line ending starts no new line", "a\nb\n", ["a", "b"]],
  ["blank lines count", "\na\n\n\nb", ["", "a", "", "", "b"]],
  ["Windows line endings are line endings", "a\r\nb\r\n", ["a", "b"]],
  ["a lone carriage return doesn't end a line", "a\rb\r\r\nc", ["a\rb\r", "c"]],
  ["other Unicode separators don't end a line", "a\u2028b\u2029c\u0085d\u000be\n", ["a\u2028b\u2029c\u0085d\u000be"]],
  ["a leading byte order mark is not part of the text", "\uFEFFa\nb\uFEFF", ["a", "b\uFEFF"]],
  ["multi-byte letters stay whole", "é🦷\u202Eא\n🦷", ["é🦷\u202Eא", "🦷"]],
];

for (const [name, file, lines] of CASES) {
  test(name, async () => {
    for (const pieceBytes of [1, 2, 3, 7, 1024])
      assert.deepEqual(
        await readInPieces(Buffer.from(file), pieceBytes),
        lines.map((text) => ({ text })),
      );
  });
}

test("JSON texts come out unchanged, wherever the file is split into chunks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: "binary" })), fc.integer({ min: 1, max: 50 }), async (texts, size) => {
      const lines = texts.map((text) => JSON.stringify(text));
      const read = await readInPieces(Buffer.from(lines.join("\n")), size);
      assert.deepEqual(
        read,
        lines.map((text) => ({ text })),
      );
    }),
  );
});

test("invalid UTF-8 is an error on its own line only", async () => {
  const file = Buffer.concat([Buffer.from("a\n"), Buffer.from([0x4d, 0xfc, 0x0a]), Buffer.from("\n\uFEFFc\r\n")]);
  for (const pieceBytes of [1, 1024])
    assert.deepEqual(await readInPieces(file, pieceBytes), [
      { text: "a" },
      { fault: "it is not valid UTF-8" },
      { text: "" },
      { text: "c" },
    ]);
});

test("a line that does not end within 16 MB is abandoned", async () => {
  let pieces = 0;
  async function* endless() {
    yield Buffer.from("a\n");
    for (;;) {
      pieces += 1;
      yield Buffer.alloc(1024 * 1024, "x");
    }
  }
  assert.deepEqual((await Array.fromAsync(toTextLines(endless()))).flat(), [
    { text: "a" },
    { fault: "it is longer than 16 MB" },
  ]);
  assert.equal(pieces, 17);
});
