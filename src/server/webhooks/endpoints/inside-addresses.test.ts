import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  guardedSend,
  post,
  respond,
  startReceiver,
  type TestReceiver,
  untimed,
} from "../../../../test/support/webhooks/receiver.ts";
import { type Cidr, parseCidr } from "../../sending/address-rules.ts";
import type { HostReply, ResolveHost } from "../../sending/resolve-host.ts";
import type { GuardedSend } from "../request/guarded-send.ts";
import { checkEndpointUrl } from "./url-rules.ts";

// Requests that must not reach internal addresses. A server on this machine counts connections, and must count none.

const BLOCKED = { kind: "failure", code: "blocked_address" };
/** A name in a private network fails like one that does not exist, so nobody can find out which names exist there. */
const NOT_FOUND = { kind: "failure", code: "dns_error" };
const PUBLIC = "93.184.215.14";

let inside: TestReceiver;
const senders: GuardedSend[] = [];
before(async () => {
  inside = await startReceiver((socket) => respond(socket, 200, {}, "secret"));
});
after(async () => {
  for (const sender of senders) await sender.close();
  await inside.stop();
});

function sender(settings: Parameters<typeof guardedSend>[0]): GuardedSend {
  const made = guardedSend(settings);
  senders.push(made);
  return made;
}

function answering(...replies: string[][]): ResolveHost {
  return async (): Promise<HostReply> => ({
    kind: "found",
    addresses: (replies.length > 1 ? replies.shift() : replies[0]) ?? [],
  });
}

test("no spelling of an internal address is connected to, with or without TLS", async () => {
  const hosts = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "①②⑦.⓪.⓪.①",
    "0.0.0.0",
    "0",
    "127.8.8.8",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::80ff:fffe]",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "172.16.0.1",
    "192.168.0.1",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "user:password@127.0.0.1",
    "example.com@127.0.0.1",
  ];
  const { send } = sender({ allowCidrs: [] });
  for (const host of hosts) {
    for (const protocol of ["https", "http"]) {
      const result = await send(post(`${protocol}://${host}:${inside.port}/latest/meta-data/`));
      assert.deepEqual(untimed(result), BLOCKED, `${protocol}://${host}`);
    }
  }
  assert.equal(inside.connectionCount(), 0);
});

test("a name that resolves to an internal address is not connected to, in any form of the address", async () => {
  const replies = [
    ["127.0.0.1"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["0.0.0.0"],
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["fe80::1%lo"],
  ];
  for (const addresses of replies) {
    for (const url of [`https://hooks.example.test:${inside.port}/`, `http://hooks.example.test.:${inside.port}/`]) {
      const { send } = sender({ allowCidrs: [], resolve: answering(addresses) });
      assert.deepEqual(untimed(await send(post(url))), NOT_FOUND, `${url} ${addresses}`);
    }
  }
  assert.equal(inside.connectionCount(), 0);
});

test("a name in a private network can't be distinguished from one that does not exist", async () => {
  const quick: ResolveHost = async () => ({ kind: "found", addresses: ["10.0.0.1"] });
  // A name server that doesn't know a name asks other servers first.
  const slow: ResolveHost = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return { kind: "not_found" };
  };
  const [existing, missing] = await Promise.all(
    [quick, slow].map((resolve) => sender({ allowCidrs: [], resolve }).send(post("https://printer.internal.test/"))),
  );
  assert.ok(existing && missing);
  assert.deepEqual({ ...existing, durationMs: 0 }, { ...missing, durationMs: 0 });
  // A busy machine takes longer, so only the minimum is checked. Timers may fire a millisecond early.
  for (const { durationMs } of [existing, missing]) assert.ok(durationMs >= 99, `it took ${durationMs} ms`);
});

test("one internal address among public ones refuses the name, in any position", async () => {
  for (const addresses of [
    [PUBLIC, "127.0.0.1"],
    ["127.0.0.1", PUBLIC],
    [PUBLIC, "2606:4700:4700::1111", "::1"],
  ]) {
    const { send } = sender({ allowCidrs: [], resolve: answering(addresses) });
    const result = await send(post(`https://hooks.example.test:${inside.port}/`));
    assert.deepEqual(untimed(result), NOT_FOUND, `${addresses}`);
  }
  assert.equal(inside.connectionCount(), 0);
});

test("a name that is public when saved and internal when used is refused at sending", async () => {
  const resolve = answering([PUBLIC], ["127.0.0.1"]);
  const url = `https://rebind.example.test:${inside.port}/`;
  const saved = await checkEndpointUrl({ resolve, allow: [], nat64: [] }, url);
  const { send } = sender({ allowCidrs: [], resolve });
  assert.deepEqual([saved, untimed(await send(post(url)))], [{ kind: "accepted", url }, NOT_FOUND]);
  assert.equal(inside.connectionCount(), 0);
});

test("a name is resolved once per connection, so a second answer cannot replace the checked one", async () => {
  const allow = ["127.0.0.1/32"];
  const outside = await startReceiver((socket) => respond(socket, 200, { Connection: "close" }, "outside"));
  let questions = 0;
  const resolve: ResolveHost = async () => {
    questions++;
    return { kind: "found", addresses: [questions === 1 ? "127.0.0.1" : "127.0.0.2"] };
  };
  const { send } = sender({ allowCidrs: allow, resolve });
  const first = await send(post(`http://rebind.example.test:${outside.port}/`));
  assert.deepEqual([first.kind === "reply" && first.body, questions], ["outside", 1]);
  assert.deepEqual(untimed(await send(post(`http://rebind.example.test:${outside.port}/`))), NOT_FOUND);
  await outside.stop();
});

test("plain http to a public address is refused, as a literal and by name", async () => {
  const { send } = sender({ allowCidrs: ["127.0.0.1/32"], resolve: answering([PUBLIC]) });
  assert.deepEqual(untimed(await send(post(`http://${PUBLIC}/`))), BLOCKED);
  assert.deepEqual(untimed(await send(post("http://hooks.example.test/"))), NOT_FOUND);
});

test("an allow-listed address is reached over plain http, and its neighbours are not", async () => {
  const target = await startReceiver((socket) => respond(socket, 200, {}, "hello"));
  const { send } = sender({
    allowCidrs: ["127.0.0.1/32"],
    resolve: answering(["127.0.0.1"], ["127.0.0.1", "127.0.0.2"]),
  });
  const byLiteral = await send(post(target.url));
  const byMapped = await send(post(`http://[::ffff:127.0.0.1]:${target.port}/`));
  const byName = await send(post(`http://localhost:${target.port}/`));
  const byMixedName = await send(post(`http://mixed.example.test:${target.port}/`));
  const byNeighbour = await send(post(`http://127.0.0.2:${target.port}/`));
  assert.deepEqual(
    [byLiteral, byMapped, byName].map((result) => result.kind === "reply" && result.body),
    ["hello", "hello", "hello"],
  );
  assert.deepEqual([untimed(byMixedName), untimed(byNeighbour)], [NOT_FOUND, BLOCKED]);
  await target.stop();
});

test("an address refused on saving is refused on sending too", async () => {
  const allow: Cidr[] = [];
  for (const host of ["127.0.0.1", "[::ffff:a9fe:a9fe]", "inside.example.test", "0x7f.1", "localhost"]) {
    const resolve = answering(["10.1.1.1"]);
    const url = `https://${host}:${inside.port}/`;
    const saved = await checkEndpointUrl({ resolve, allow, nat64: [] }, url);
    const { send } = sender({ allowCidrs: [], resolve });
    const isName = host.endsWith(".test") || host === "localhost";
    assert.deepEqual([saved.kind, untimed(await send(post(url)))], ["refused", isName ? NOT_FOUND : BLOCKED], host);
  }
  assert.equal(inside.connectionCount(), 0);
  assert.equal(parseCidr("10.0.0.0/8") === null, false);
});
