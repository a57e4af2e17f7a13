// PostgreSQL's hashtext, which decides in which shard group Citus puts an organization. It is Bob Jenkins' lookup3 in 32-bit
// arithmetic. check-cluster.ts compares it with the server's at every start.

const SEED = 0x9e3779b9 + 3_923_095;
const BLOCK = 12;

export function hashText(text: string): number {
  const bytes = Buffer.from(text);
  const start = (SEED + bytes.length) | 0;
  let state: State = [start, start, start];
  let at = 0;
  for (; bytes.length - at >= BLOCK; at += BLOCK) state = mix(addBlock(state, bytes.subarray(at)));
  const rest = Buffer.alloc(BLOCK);
  bytes.copy(rest, 0, at);
  return finish(addRest(state, rest));
}

type State = readonly [a: number, b: number, c: number];

function addBlock([a, b, c]: State, block: Buffer): State {
  return [(a + block.readInt32LE(0)) | 0, (b + block.readInt32LE(4)) | 0, (c + block.readInt32LE(8)) | 0];
}

/** The lowest byte of the last word stays free: the length was added there. */
function addRest([a, b, c]: State, rest: Buffer): State {
  return [(a + rest.readInt32LE(0)) | 0, (b + rest.readInt32LE(4)) | 0, (c + (rest.readInt32LE(8) << 8)) | 0];
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function mix([a, b, c]: State): State {
  a = ((a - c) ^ rotate(c, 4)) | 0;
  c = (c + b) | 0;
  b = ((b - a) ^ rotate(a, 6)) | 0;
  a = (a + c) | 0;
  c = ((c - b) ^ rotate(b, 8)) | 0;
  b = (b + a) | 0;
  a = ((a - c) ^ rotate(c, 16)) | 0;
  c = (c + b) | 0;
  b = ((b - a) ^ rotate(a, 19)) | 0;
  a = (a + c) | 0;
  c = ((c - b) ^ rotate(b, 4)) | 0;
  b = (b + a) | 0;
  return [a, b, c];
}

function finish([a, b, c]: State): number {
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) | 0;
}
