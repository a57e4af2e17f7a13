import { crc32, deflateSync } from "node:zlib";

// The chart of a report as a PNG, because mail clients show neither SVG nor scripts. One bar per day: views, and in front of
// them bookings, on the same scale. Mail clients scale it to half its size, so that it is sharp on any screen.

const WIDTH = 1040;
const HEIGHT = 280;
const BACKGROUND = 0;
const LINE = 1;
const VIEWS = 2;
const BOOKINGS = 3;
const PALETTE = [
  [0xff, 0xff, 0xff],
  [0xe4, 0xe7, 0xec],
  [0x75, 0xb7, 0xc5],
  [0xb9, 0x87, 0x14],
];
export const CHART_COLORS = { views: "#75b7c5", bookings: "#b98714" } as const;
export const CHART_SIZE = { width: WIDTH / 2, height: HEIGHT / 2 } as const;

type Day = { readonly views: number; readonly bookings: number };

/** `top` is the value of the upper line: a round number that no bar exceeds. */
export function drawChart(days: readonly Day[]): { png: Buffer; top: number } {
  const top = toRoundMax(Math.max(...days.map(({ views, bookings }) => Math.max(views, bookings)), 1));
  const pixels = Buffer.alloc(WIDTH * HEIGHT, BACKGROUND);
  const fill = (box: { left: number; right: number; height: number }, color: number) => {
    for (let y = HEIGHT - box.height; y < HEIGHT; y++) pixels.fill(color, y * WIDTH + box.left, y * WIDTH + box.right);
  };
  for (const y of [0, HEIGHT / 2, HEIGHT - 2]) pixels.fill(LINE, y * WIDTH, (y + 2) * WIDTH);
  const step = WIDTH / days.length;
  const toHeight = (count: number) => Math.round((count / top) * (HEIGHT - 2));
  days.forEach(({ views, bookings }, index) => {
    const [left, right] = [Math.round(index * step + step * 0.14), Math.round((index + 1) * step - step * 0.14)];
    fill({ left, right, height: toHeight(views) }, VIEWS);
    const inset = Math.round((right - left) * 0.22);
    fill({ left: left + inset, right: right - inset, height: toHeight(bookings) }, BOOKINGS);
  });
  return { png: toPng(pixels), top };
}

/** The next of 1, 2, 4, 6, 8, 10, 20, 40 and so on, so that half of it is a round number too. */
export function toRoundMax(max: number): number {
  const unit = 10 ** Math.floor(Math.log10(max));
  const step = [1, 2, 4, 6, 8, 10].find((each) => each * unit >= max) ?? 10;
  return step * unit;
}

function toPng(pixels: Buffer): Buffer {
  const lines = Buffer.alloc((WIDTH + 1) * HEIGHT);
  // Each line begins with its filter, 0 for none.
  for (let y = 0; y < HEIGHT; y++) pixels.copy(lines, y * (WIDTH + 1) + 1, y * WIDTH, (y + 1) * WIDTH);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  // Eight bits per pixel, each a number in the palette.
  header.writeUInt8(8, 8);
  header.writeUInt8(3, 9);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    toChunk("IHDR", header),
    toChunk("PLTE", Buffer.from(PALETTE.flat())),
    toChunk("IDAT", deflateSync(lines, { level: 9 })),
    toChunk("IEND", Buffer.alloc(0)),
  ]);
}

function toChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
