import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { after, test } from "node:test";
import type { Clock } from "../lib/time/clock.ts";
import { createHostResolver, createSystemResolver, findInHostsFile, type ResolveHost } from "./resolve-host.ts";

const RECORD_TYPES = { 1: "A", 28: "AAAA" } as const;
type RecordType = (typeof RECORD_TYPES)[keyof typeof RECORD_TYPES];
type Zone = Record<
  string,
  Partial<Record<RecordType, string[]>> & { ttl?: number; isSilent?: boolean; fails?: boolean }
>;

const sockets: Socket[] = [];
after(() => {
  for (const socket of sockets) socket.close();
});

function movableClock(): Clock & { forward(seconds: number): void } {
  let ms = Date.parse("2026-11-01T09:30:00.000Z");
  return {
    now: () => new Date(ms),
    forward: (seconds) => {
      ms += seconds * 1_000;
    },
  };
}

/** A name server on this machine that answers from `zone` and counts its queries. */
async function startNameServer(zone: Zone): Promise<{ dns: Resolver; asked: string[] }> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  sockets.push(socket);
  socket.on("message", (query, sender) => {
    const { name, type, end } = readQuestion(query);
    asked.push(`${name} ${type}`);
    const entry = zone[name];
    if (entry?.isSilent) return;
    const addresses = entry?.[type] ?? [];
    const replies = addresses.map((address) => toRecord(address, entry?.ttl ?? 60));
    const code = entry?.fails ? 2 : entry === undefined ? 3 : 0;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(replies.length, 6);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...replies]), sender.port, sender.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const dns = new Resolver({ timeout: 2_000, tries: 1 });
  dns.setServers([`127.0.0.1:${socket.address().port}`]);
  return { dns, asked };
}

function readQuestion(query: Buffer): { name: string; type: RecordType; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1) === 28 ? "AAAA" : "A";
  return { name: labels.join(".").toLowerCase(), type, end: at + 5 };
}

function toRecord(address: string, ttl: number): Buffer {
  const data = address.includes(":")
    ? Buffer.from(
        address
          .split(":")
          .map((group) => group.padStart(4, "0"))
          .join(""),
        "hex",
      )
    : Buffer.from(address.split(".").map(Number));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(data.length === 16 ? 28 : 1, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

async function resolverOf(
  zone: Zone,
  hosts = "",
): Promise<{ resolve: ResolveHost; asked: string[]; clock: ReturnType<typeof movableClock> }> {
  const { dns, asked } = await startNameServer(zone);
  const clock = movableClock();
  return { resolve: createHostResolver({ clock, dns, readHostsFile: async () => hosts }), asked, clock };
}

test("a name resolves to all its IPv4 and IPv6 addresses", async () => {
  const { resolve } = await resolverOf({
    "hooks.example": { A: ["192.0.2.1", "192.0.2.2"], AAAA: ["2001:db8:0:0:0:0:0:1"] },
  });
  assert.deepEqual(await resolve("Hooks.Example."), {
    kind: "found",
    addresses: ["192.0.2.1", "192.0.2.2", "2001:db8::1"],
  });
});

test("a name without an address, an unknown name and a failing name server give different errors", async () => {
  const { resolve } = await resolverOf({ "empty.example": {}, "broken.example": { fails: true } });
  assert.deepEqual(await Promise.all(["empty.example", "absent.example", "broken.example", "bad..name"].map(resolve)), [
    { kind: "not_found" },
    { kind: "not_found" },
    { kind: "unavailable" },
    { kind: "not_found" },
  ]);
});

test("a failure in one address family does not hide the other", async () => {
  const dns = {
    resolve4: async () => [{ address: "192.0.2.1", ttl: 60 }],
    resolve6: async () => Promise.reject(Object.assign(new Error("no answer"), { code: "ETIMEOUT" })),
  };
  const resolve = createHostResolver({ clock: movableClock(), dns, readHostsFile: async () => "" });
  assert.deepEqual(await resolve("half.example"), { kind: "found", addresses: ["192.0.2.1"] });
});

test("fifty names on a silent name server do not delay another name", async () => {
  const silent = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`silent${i}.example`, { isSilent: true }]));
  const { resolve } = await resolverOf({ ...silent, "quick.example": { A: ["192.0.2.1"] } });
  const order: string[] = [];
  const slow = Object.keys(silent).map((name) => resolve(name).then((reply) => order.push(reply.kind)));
  await resolve("quick.example").then((reply) => order.push(reply.kind));
  await Promise.all(slow);
  assert.deepEqual(order, ["found", ...new Array(50).fill("unavailable")]);
});

test("a lookup is shared while it runs and cached for its time to live, at most 30 seconds", async () => {
  const { resolve, asked, clock } = await resolverOf({
    "short.example": { A: ["192.0.2.1"], ttl: 10 },
    "long.example": { A: ["192.0.2.1"], ttl: 3_600 },
    "none.example": { A: ["192.0.2.1"], ttl: 0 },
  });
  const questions = () => asked.splice(0).filter((question) => question.endsWith(" A"));
  await Promise.all([resolve("short.example"), resolve("short.example"), resolve("long.example")]);
  assert.deepEqual(questions(), ["short.example A", "long.example A"]);
  clock.forward(9);
  await Promise.all([resolve("short.example"), resolve("long.example")]);
  assert.deepEqual(questions(), []);
  clock.forward(2);
  await Promise.all([resolve("short.example"), resolve("long.example")]);
  assert.deepEqual(questions(), ["short.example A"]);
  clock.forward(20);
  await Promise.all([resolve("long.example")]);
  assert.deepEqual(questions(), ["long.example A"]);
  await resolve("none.example");
  await resolve("none.example");
  assert.deepEqual(questions(), ["none.example A", "none.example A"]);
});

test("the hosts file and localhost take precedence over the name server, as operators expect for private targets", async () => {
  const { resolve, asked } = await resolverOf({}, "10.1.2.3 receiver.internal receiver\n");
  assert.deepEqual(await Promise.all(["receiver", "RECEIVER.internal", "localhost", "app.localhost"].map(resolve)), [
    { kind: "found", addresses: ["10.1.2.3"] },
    { kind: "found", addresses: ["10.1.2.3"] },
    { kind: "found", addresses: ["127.0.0.1", "::1"] },
    { kind: "found", addresses: ["127.0.0.1", "::1"] },
  ]);
  assert.deepEqual(asked, []);
});

test("this machine's own hosts file is read", async () => {
  const reply = await createSystemResolver(movableClock())("localhost");
  assert.ok(reply.kind === "found" && reply.addresses.includes("127.0.0.1"), JSON.stringify(reply));
});

test("the hosts file is parsed as the system does", () => {
  const text = [
    "127.0.0.1\tlocalhost # loop",
    "# 10.9.9.9 hidden",
    "::1 localhost ip6-localhost",
    "10.0.0.5  Alpha beta",
    "not-an-address alpha",
    "",
    "10.0.0.6 alpha\r",
  ].join("\n");
  assert.deepEqual(
    ["localhost", "hidden", "alpha", "beta", "10.0.0.5", ""].map((name) => findInHostsFile(text, name)),
    [["127.0.0.1", "::1"], [], ["10.0.0.5", "10.0.0.6"], ["10.0.0.5"], [], []],
  );
});
