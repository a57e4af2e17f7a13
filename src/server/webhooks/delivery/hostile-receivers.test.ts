import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  guardedSend,
  post,
  respond,
  startReceiver,
  type TestReceiver,
  untimed,
} from "../../../../test/support/webhooks/receiver.ts";
import { type GuardedSend, REPLY_READ_BYTES_MAX } from "../request/guarded-send.ts";
import { REPLY_KEPT_BYTES } from "../request/reply-reader.ts";

// Receivers that misbehave: each delivery ends within the time limit, uses bounded memory and is reported correctly.

const TIMEOUT_MS = 600;
/** A busy machine runs timers late; it never runs them early. */
const AT_THE_LIMIT = { minMs: TIMEOUT_MS - 1, maxMs: TIMEOUT_MS + 9_000 };
/** For receivers that are detected long before a limit. */
const PATIENT_MS = 10_000;
const IN_TIME = { maxMs: PATIENT_MS - 1 };
/** How much kernel buffers on both sides can absorb before a receiver notices that nobody reads. */
const SOCKET_BUFFER_BYTES = 16 * 1_024 * 1_024;

const receivers: TestReceiver[] = [];
const hasty: GuardedSend = guardedSend({ timeoutMs: TIMEOUT_MS });
const patient: GuardedSend = guardedSend({ timeoutMs: PATIENT_MS });
after(async () => {
  await hasty.close();
  await patient.close();
  for (const receiver of receivers) await receiver.stop();
});

async function hostile(reply: (socket: Socket) => void): Promise<TestReceiver> {
  const receiver = await startReceiver(reply);
  receivers.push(receiver);
  return receiver;
}

/** Writes as fast as the other side reads, until the connection is closed; counts what was read. */
function pour(socket: Socket, chunk: Buffer, limitBytes = Number.POSITIVE_INFINITY): { takenBytes: number } {
  const count = { takenBytes: 0 };
  const more = () => {
    while (!socket.destroyed && count.takenBytes < limitBytes) {
      count.takenBytes += chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on("drain", more);
  more();
  return count;
}

const reply = {
  kind: "reply",
  status: 200,
  body: "a".repeat(REPLY_KEPT_BYTES),
  truncated: true,
  retryAfter: null,
  brokenOff: null,
};
const timeout = { kind: "failure", code: "timeout" };

test("an endless body is read up to the limit, then the connection is closed and the reply counts", async () => {
  let poured = { takenBytes: 0 };
  const target = await hostile((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    poured = pour(socket, Buffer.alloc(16_384, "a"));
  });
  assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), reply);
  await target.allClosed();
  assert.ok(poured.takenBytes < SOCKET_BUFFER_BYTES, `${poured.takenBytes} bytes were taken`);
});

test("a body announced as 1 GB is not downloaded", async () => {
  let poured = { takenBytes: 0 };
  const target = await hostile((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
    poured = pour(socket, Buffer.alloc(65_536, "a"), 1_073_741_824);
  });
  assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), reply);
  await target.allClosed();
  assert.ok(poured.takenBytes < SOCKET_BUFFER_BYTES, `${poured.takenBytes} bytes were taken`);
});

test("two hundred endless bodies at once are each read up to the limit and no further", async () => {
  const poured: { takenBytes: number }[] = [];
  const target = await hostile((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    poured.push(pour(socket, Buffer.alloc(16_384, "a")));
  });
  const results = await Promise.all(Array.from({ length: 200 }, () => patient.send(post(target.url))));
  for (const result of results) assert.deepEqual(untimed(result, IN_TIME), reply);
  await target.allClosed();
  assert.equal(poured.filter(({ takenBytes }) => takenBytes < SOCKET_BUFFER_BYTES).length, 200);
});

test("a body of exactly the limit is complete for the reader and truncated in the log", async () => {
  const target = await hostile((socket) => respond(socket, 200, {}, Buffer.alloc(REPLY_READ_BYTES_MAX, "a")));
  assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), reply);
  assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), reply);
  assert.equal(target.connectionCount(), 1);
});

test("a body sent one byte at a time ends at the time limit", async () => {
  const target = await hostile((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    const drip = setInterval(() => socket.write("a"), 20);
    socket.on("close", () => clearInterval(drip));
  });
  const result = await hasty.send(post(target.url));
  assert.ok(result.kind === "reply" && /^a+$/.test(result.body));
  assert.deepEqual({ ...untimed(result, AT_THE_LIMIT), body: "" }, { ...reply, body: "", brokenOff: "timeout" });
  await target.allClosed();
});

test("headers sent one byte at a time end at the time limit", async () => {
  const target = await hostile((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nX: ");
    const drip = setInterval(() => socket.write("a"), 20);
    socket.on("close", () => clearInterval(drip));
  });
  assert.deepEqual(untimed(await hasty.send(post(target.url)), AT_THE_LIMIT), timeout);
  await target.allClosed();
});

test("silence after the headers ends at the time limit", async () => {
  const target = await hostile((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"));
  const nothing = { ...reply, body: "", brokenOff: "timeout" };
  assert.deepEqual(untimed(await hasty.send(post(target.url)), AT_THE_LIMIT), nothing);
  await target.allClosed();
});

test("slow informational responses end at the time limit", async () => {
  const target = await hostile((socket) => {
    const drip = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"), 5);
    socket.on("close", () => clearInterval(drip));
  });
  assert.deepEqual(untimed(await hasty.send(post(target.url)), AT_THE_LIMIT), timeout);
  await target.allClosed();
});

test("endless informational responses and chunk headers are cut off before the time limit", async () => {
  const announcement = "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n";
  const floods: [start: string, rest: Buffer, result: object][] = [
    [announcement, Buffer.from(announcement.repeat(400)), { kind: "failure", code: "invalid_response" }],
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
      Buffer.alloc(16_384, "a"),
      { ...reply, body: "", brokenOff: "invalid_response" },
    ],
  ];
  for (const [start, rest, result] of floods) {
    let poured = { takenBytes: 0 };
    const target = await hostile((socket) => {
      socket.write(start);
      poured = pour(socket, rest);
    });
    assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), result);
    await target.allClosed();
    assert.ok(poured.takenBytes < SOCKET_BUFFER_BYTES, `${poured.takenBytes} bytes were taken`);
  }
});

test("a gzip bomb is stored as its compressed bytes", async () => {
  const bomb = gzipSync(Buffer.alloc(32 * 1_024 * 1_024));
  const headers = { "Content-Encoding": "gzip", "Content-Type": "text/html" };
  const target = await hostile((socket) => respond(socket, 200, headers, bomb));
  const result = await patient.send(post(target.url));
  assert.ok(result.kind === "reply" && Buffer.byteLength(result.body) <= REPLY_KEPT_BYTES);
  assert.deepEqual({ ...untimed(result, IN_TIME), body: "" }, { ...reply, body: "" });
});

test("headers over the size limit are not read to the end", async () => {
  const big = await hostile((socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(64 * 1_024)}\r\n\r\n`));
  const endless = await hostile((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    pour(socket, Buffer.from("X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"));
  });
  for (const target of [big, endless]) {
    const tooLarge = { kind: "failure", code: "response_headers_too_large" };
    assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), tooLarge);
    await target.allClosed();
  }
});

test("invalid UTF-8 and NUL in a body are stored as replacement characters", async () => {
  const target = await hostile((socket) => respond(socket, 200, {}, Buffer.from([0x6f, 0x6b, 0x00, 0xff, 0xfe])));
  assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), {
    ...reply,
    body: "ok\ufffd\ufffd\ufffd",
    truncated: false,
  });
});

test("a connection closed early is an error before the headers, and truncates the reply in the body", async () => {
  const early = await hostile((socket) => socket.end());
  const late = await hostile((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
  const fault = { kind: "failure", code: "connection_reset" };
  const cut = { ...reply, body: "half", brokenOff: "connection_reset" };
  assert.deepEqual(untimed(await patient.send(post(early.url)), IN_TIME), fault);
  assert.deepEqual(untimed(await patient.send(post(late.url)), IN_TIME), cut);
});

test("a receiver that never reads the request ends at the time limit", async () => {
  const target = await startReceiver(
    () => {},
    (socket) => socket.pause(),
  );
  receivers.push(target);
  const result = await hasty.send(post(target.url, { body: Buffer.alloc(8 * 1_024 * 1_024) }));
  assert.deepEqual(untimed(result, AT_THE_LIMIT), timeout);
});

test("a redirect to an internal address is reported and not followed", async () => {
  const inside = await hostile((socket) => respond(socket, 200));
  const target = await hostile((socket) => respond(socket, 307, { Location: inside.url }));
  assert.deepEqual(untimed(await patient.send(post(target.url)), IN_TIME), {
    ...reply,
    status: 307,
    body: "",
    truncated: false,
  });
  assert.equal(inside.connectionCount(), 0);
});

test("an unsolicited second reply does not reach the next delivery", async () => {
  const target = await hostile((socket) => {
    respond(socket, 500, {}, "first");
    respond(socket, 200, {}, "smuggled");
  });
  const bodies = [];
  for (let i = 0; i < 3; i++) {
    const result = await patient.send(post(target.url));
    bodies.push(result.kind === "reply" ? `${result.status} ${result.body}` : result.code);
  }
  assert.deepEqual(bodies, ["500 first", "500 first", "500 first"]);
});
