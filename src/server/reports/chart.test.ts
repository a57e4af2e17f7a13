import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, inflateSync } from "node:zlib";
import { drawChart, toRoundMax } from "./chart.ts";

/** Reads the chunks of a PNG and checks their checksums. */
function readChunks(png: Buffer): Map<string, Buffer> {
  assert.equal(png.subarray(0, 8).toString("hex"), "89504e470d0a1a0a");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const body = png.subarray(at + 4, at + 8 + length);
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(body));
    chunks.set(body.toString("latin1", 0, 4), body.subarray(4));
    at += 12 + length;
  }
  return chunks;
}

test("the chart is a valid picture with a bar per day, in proportion", () => {
  const { png, top } = drawChart([
    { views: 100, bookings: 25 },
    { views: 50, bookings: 0 },
    { views: 0, bookings: 0 },
  ]);
  const chunks = readChunks(png);
  assert.deepEqual([...chunks.keys()], ["IHDR", "PLTE", "IDAT", "IEND"]);
  const header = chunks.get("IHDR") ?? Buffer.alloc(0);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const lines = inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0));
  assert.equal(lines.length, (width + 1) * height);
  const columnAt = (x: number) => Array.from({ length: height }, (_, y) => lines[y * (width + 1) + 1 + x]);
  const count = (x: number, color: number) => columnAt(x).filter((each) => each === color).length;
  const middles = [1, 3, 5].map((sixth) => Math.round((width * sixth) / 6));
  const [first = 0, second = 0, third = 0] = middles;
  assert.equal(top, 100);
  assert.equal(count(first, 2) + count(first, 3), height - 2);
  assert.equal(count(first, 3), Math.round((height - 2) / 4));
  assert.equal(count(second, 2), (height - 2) / 2);
  assert.equal(count(third, 2), 0);
});

test("the scale ends with a round number whose half is round too", () => {
  assert.deepEqual(
    [1, 2, 3, 5, 7, 9, 11, 20, 21, 99, 101, 4_321].map(toRoundMax),
    [1, 2, 4, 6, 8, 10, 20, 20, 40, 100, 200, 6_000],
  );
});

test("days without any views give a picture too", () => {
  assert.equal(drawChart([{ views: 0, bookings: 0 }]).top, 1);
});
