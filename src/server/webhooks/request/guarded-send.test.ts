import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { after, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { EndpointId } from "#contract/ids.ts";
import {
  guardedSend,
  post,
  respond,
  startReceiver,
  type TestReceiver,
  untimed,
} from "../../../../test/support/webhooks/receiver.ts";
import { parseCidr } from "../../sending/address-rules.ts";
import type { HostReply, ResolveHost } from "../../sending/resolve-host.ts";
import type { GuardedSend, SendResult } from "./guarded-send.ts";

const opened: { stop(): Promise<void> }[] = [];
after(async () => {
  for (const one of opened) await one.stop();
});

async function receiver(...args: Parameters<typeof startReceiver>): Promise<TestReceiver> {
  const started = await startReceiver(...args);
  opened.push(started);
  return started;
}

function sender(settings: Parameters<typeof guardedSend>[0] = {}): GuardedSend {
  const made = guardedSend(settings);
  opened.push({ stop: () => made.close() });
  return made;
}

function names(replies: Record<string, string[]>): ResolveHost {
  return async (host): Promise<HostReply> => {
    const addresses = replies[host];
    return addresses === undefined ? { kind: "not_found" } : { kind: "found", addresses };
  };
}

const failure = (code: string) => ({ kind: "failure", code });
const statusOf = (result: SendResult) => (result.kind === "reply" ? result.status : null);

test("a signed delivery has the contract's headers, those of Standard Webhooks, the endpoint's own, and the given bytes", async () => {
  const target = await receiver((socket) => respond(socket, 200));
  const body = Buffer.from([...Buffer.from('{"name":"Zoë"}'), 0xff, 0x00]);
  const signed = {
    eventType: "booking.created",
    eventId: "evt_1",
    deliveryId: "0197c7d0-1111-7000-8000-000000000001",
    isTestBooking: false,
    signatures: { unixSeconds: 1_700_000_000, contract: "t=1700000000,v1=72037e86", standard: "v1,cgN+hg==" },
  } as const;
  const customHeaders = { "X-Api-Key": "s3cret" };
  await sender().send(post(`${target.url}?key=a%2Fb`, { body, signed, customHeaders }));
  assert.deepEqual(target.requests, [
    {
      head: [
        "POST /hooks?key=a%2Fb HTTP/1.1",
        `host: 127.0.0.1:${target.port}`,
        "connection: keep-alive",
        "Content-Type: application/json",
        "User-Agent: Service-Webhooks/1.0 (+https://docs.example/webhooks)",
        "Accept-Encoding: identity",
        "Service-Event: booking.created",
        "Service-Delivery: 0197c7d0-1111-7000-8000-000000000001",
        "Service-Signature: t=1700000000,v1=72037e86",
        "webhook-id: evt_1",
        "webhook-timestamp: 1700000000",
        "webhook-signature: v1,cgN+hg==",
        "X-Api-Key: s3cret",
        "content-length: 17",
      ].join("\r\n"),
      body,
    },
  ]);
});

test("a card is sent without the headers of a signed delivery", async () => {
  const target = await receiver((socket) => respond(socket, 200));
  await sender().send(post(target.url));
  assert.deepEqual(target.requests[0]?.head.split("\r\n").slice(2), [
    "connection: keep-alive",
    "Content-Type: application/json",
    "User-Agent: Service-Webhooks/1.0 (+https://docs.example/webhooks)",
    "Accept-Encoding: identity",
    "content-length: 2",
  ]);
});

test("a reply is reported with its status, its body and the stored header", async () => {
  const headers = { "Content-Type": "text/plain; charset=utf-8", "Retry-After": "120", "Set-Cookie": "a=b" };
  const target = await receiver((socket) => respond(socket, 503, headers, "come back later, Zoë"));
  assert.deepEqual(untimed(await sender().send(post(target.url))), {
    kind: "reply",
    status: 503,
    body: "come back later, Zoë",
    truncated: false,
    retryAfter: "120",
    brokenOff: null,
  });
});

test("a reply without a body or the stored header is reported as such", async () => {
  const target = await receiver((socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
  assert.deepEqual(untimed(await sender().send(post(target.url))), {
    kind: "reply",
    status: 204,
    body: "",
    truncated: false,
    retryAfter: null,
    brokenOff: null,
  });
});

test("an informational response such as 103 is not taken for the reply", async () => {
  const target = await receiver((socket) => {
    socket.write("HTTP/1.1 103 Early Hints\r\nRetry-After: 5\r\n\r\n");
    respond(socket, 200, {}, "done");
  });
  const result = await sender().send(post(target.url));
  assert.deepEqual(result.kind === "reply" && [result.status, result.retryAfter], [200, null]);
});

test("interim replies are skipped, however they are cut: 100 without being asked, several, and 102 and 103", async () => {
  const interims = [
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 100 Continue\r\nX-Any: 1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
  ];
  const final = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone";
  for (const interim of interims) {
    for (const cut of [0, 1, 9, 12, interim.length - 2, interim.length, interim.length + 9]) {
      const target = await receiver((socket) => {
        const bytes = interim + final;
        socket.write(bytes.slice(0, cut));
        // The sender has read the first piece by then.
        setImmediate(() => setImmediate(() => socket.write(bytes.slice(cut))));
      });
      const { send } = sender();
      for (let time = 1; time <= 2; time++) {
        const result = await send(post(target.url));
        assert.deepEqual(result.kind === "reply" && [result.status, result.body], [200, "done"], `${interim} ${cut}`);
      }
      assert.equal(target.connectionCount(), 1, "the connection is used again");
    }
  }
});

test("a reply's headers, its remote address and the parts of its time are told for the log", async () => {
  const headers = { "Content-Type": "text/plain", "Set-Cookie": "session=secret", "X-Long": "x".repeat(500) };
  const target = await receiver((socket) => respond(socket, 200, headers, "ok"));
  const { send } = sender({ resolve: names({ "hooks.example": ["127.0.0.1"] }) });
  const url = target.url.replace("127.0.0.1", "hooks.example");
  const first = (await send(post(url))).trace;
  assert.equal(first.remoteAddress, "127.0.0.1");
  assert.deepEqual(first.replyHeaders, {
    "content-length": "2",
    "content-type": "text/plain",
    "set-cookie": "…",
    "x-long": "x".repeat(200),
  });
  const { lookupMs, connectMs, tlsMs, firstByteMs } = first.timings;
  assert.ok(
    [lookupMs, connectMs, firstByteMs].every((ms) => ms !== null && ms >= 0),
    JSON.stringify(first.timings),
  );
  assert.equal(tlsMs, null, "plain http");
  const again = (await send(post(url))).trace.timings;
  assert.deepEqual(
    { ...again, firstByteMs: null },
    { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
  );
});

test("consecutive deliveries share one connection", async () => {
  const target = await receiver((socket) => respond(socket, 200));
  const { send } = sender();
  for (let i = 0; i < 20; i++) assert.equal((await send(post(target.url))).kind, "reply");
  assert.deepEqual([target.requests.length, target.connectionCount()], [20, 1]);
});

test("endpoints on one host do not share connections, so a stray second reply reaches nobody else", async () => {
  const target = await receiver((socket, { head }) => {
    if (head.startsWith("POST /twice")) socket.write("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".repeat(2));
    else respond(socket, 204);
  });
  const { send } = sender();
  const other = "we_2222222222222222" as EndpointId;
  for (let i = 0; i < 20; i++) {
    assert.equal(statusOf(await send(post(new URL("/twice", target.url).href))), 500);
    assert.equal(statusOf(await send(post(target.url, { endpointId: other }))), 204);
  }
});

test("simultaneous deliveries each have a connection, and later ones reuse them", async () => {
  const waiting: Socket[] = [];
  const target = await receiver((socket) => {
    waiting.push(socket);
    if (waiting.length % 30 === 0) for (const one of waiting.splice(0)) respond(one, 200);
  });
  const { send } = sender();
  for (let round = 0; round < 3; round++) {
    const results = await Promise.all(Array.from({ length: 30 }, () => send(post(target.url))));
    assert.ok(results.every((result) => result.kind === "reply"));
  }
  assert.deepEqual([target.requests.length, target.connectionCount()], [90, 30]);
});

test("a receiver that closes the connection after each reply gets new connections", async () => {
  const target = await receiver((socket) => {
    respond(socket, 200, { Connection: "close" });
    socket.end();
  });
  const { send } = sender();
  for (let i = 0; i < 10; i++) assert.equal((await send(post(target.url))).kind, "reply");
  assert.deepEqual([target.requests.length, target.connectionCount()], [10, 10]);
});

test("a kept connection that the receiver has closed is not used again", async () => {
  const target = await receiver((socket) => respond(socket, 200));
  const { send } = sender();
  await send(post(target.url));
  const closed = target.allClosed();
  await target.stop();
  await closed;
  assert.deepEqual(untimed(await send(post(target.url))), failure("connection_refused"));
});

test("each connection error has its own name", async () => {
  const faults: [code: string, reply: (socket: Socket) => void][] = [
    ["connection_reset", (socket) => socket.resetAndDestroy()],
    ["connection_reset", (socket) => socket.end()],
    ["connection_reset", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le")],
    ["invalid_response", (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
    ["invalid_response", (socket) => socket.write("HTTP/1.1 200 OK\nContent-Length: 2\n\nok")],
    [
      "invalid_response",
      (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
    ],
    [
      "response_headers_too_large",
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(17 * 1_024)}\r\n\r\n`),
    ],
    ["connection_reset", (socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\n")],
    [
      "invalid_response",
      (socket) => socket.write("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    ],
    ["invalid_response", (socket) => socket.write("hello\r\n\r\n")],
    [
      "invalid_response",
      (socket) => socket.write("HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ],
  ];
  for (const [code, reply] of faults) {
    const target = await receiver(reply);
    assert.deepEqual(untimed(await sender().send(post(target.url))), failure(code), reply.toString());
  }
  const gone = await startReceiver(() => {});
  await gone.stop();
  assert.deepEqual(untimed(await sender().send(post(gone.url))), failure("connection_refused"));
});

test("what is wrong with a reply that isn't valid HTTP is said", async () => {
  const head = "HTTP/1.1 200 OK\r\n";
  for (const [reply, fault] of [
    ["SSH-2.0-OpenSSH_9.6\r\n", "Expected HTTP/, RTSP/ or ICE/"],
    ["HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "Missing expected CR after response line"],
    [
      `${head}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`,
      "Content-Length doesn't match the body, or is sent twice",
    ],
    [`${head}Content-Length: two\r\n\r\nok`, "Invalid character in Content-Length"],
    [`${head}Transfer-Encoding: chunked\r\n\r\nlong\r\n`, "Invalid character in chunk size"],
  ] as const) {
    const target = await receiver((socket) => socket.write(reply));
    const { trace } = await sender().send(post(target.url));
    assert.equal(trace.replyFault, fault);
  }
});

test("a reply cut off by a lost connection has its status and the part of the body received", async () => {
  for (const close of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    const target = await receiver((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart", () => close(socket)),
    );
    const result = await sender().send(post(target.url));
    assert.deepEqual(untimed(result), {
      kind: "reply",
      status: 200,
      body: "part",
      truncated: true,
      retryAfter: null,
      brokenOff: "connection_reset",
    });
  }
});

test("a body that ends with the connection is complete", async () => {
  const target = await receiver((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nthat was all"));
  const result = await sender().send(post(target.url));
  assert.deepEqual(result.kind === "reply" && [result.body, result.status, result.brokenOff], [
    "that was all",
    200,
    null,
  ]);
});

test("on a DNS64 network, a name with an A record and its synthesized address is sent to over IPv4", async () => {
  const target = await receiver((socket) => respond(socket, 204));
  // 64:ff9b::/96 with 127.0.0.1 inside, which these tests allow.
  const nat64 = [parseCidr("64:ff9b::/96") ?? assert.fail("it is a prefix")];
  const { send } = sender({ nat64, resolve: names({ "hooks.example.test": ["64:ff9b::7f00:1", "127.0.0.1"] }) });
  const result = await send(post(`http://hooks.example.test:${target.port}/`));
  assert.deepEqual([statusOf(result), result.trace.remoteAddress], [204, "127.0.0.1"]);
  const inside = sender({ nat64, resolve: names({ "hooks.example.test": ["64:ff9b::a00:1", "127.0.0.1"] }) });
  assert.deepEqual(
    untimed(await inside.send(post(`http://hooks.example.test:${target.port}/`))),
    failure("dns_error"),
    "10.0.0.1 inside",
  );
});

test("a name that does not resolve, permanently or for now, is a DNS error", async () => {
  for (const reply of [{ kind: "not_found" }, { kind: "unavailable" }] as const) {
    const { send } = sender({ resolve: async () => reply });
    assert.deepEqual(untimed(await send(post("https://hooks.example.test/"))), failure("dns_error"));
  }
});

test("of a name's addresses, the one that answers is used", async () => {
  const target = await receiver((socket) => respond(socket, 200));
  const { send } = sender({ resolve: names({ "hooks.example.test": ["127.0.0.9", "127.0.0.1"] }) });
  const result = await send(post(`http://hooks.example.test:${target.port}/`));
  assert.equal(result.kind, "reply");
  assert.match(target.requests[0]?.head ?? "", new RegExp(`^host: hooks\\.example\\.test:${target.port}$`, "m"));
});

test("a silent name server, a silent receiver and a silent TLS handshake each end at the time limit", async () => {
  const silent = await receiver(() => {});
  const never: ResolveHost = () => new Promise(() => {});
  const cases: [url: string, resolve: ResolveHost][] = [
    ["https://hooks.example.test/", never],
    [silent.url, never],
    [`https://127.0.0.1:${silent.port}/`, never],
  ];
  for (const [url, resolve] of cases) {
    const result = await sender({ resolve, timeoutMs: 150 }).send(post(url));
    assert.deepEqual(untimed(result, { minMs: 149, maxMs: 9_000 }), failure("timeout"), url);
  }
  await silent.allClosed();
});

test("a delivery that timed out while connecting is never written", async () => {
  let replyLate: (reply: HostReply) => void = () => {};
  const late = new Promise<HostReply>((resolve) => {
    replyLate = resolve;
  });
  const target = await receiver((socket) => respond(socket, 200));
  const { send, close } = sender({ resolve: () => late, timeoutMs: 50 });
  const result = await send(post(`http://hooks.example.test:${target.port}/`));
  replyLate({ kind: "found", addresses: ["127.0.0.1"] });
  await close();
  const proof = await sender().send(post(target.url));
  assert.deepEqual(
    [result.kind, proof.kind, target.requests.length, target.connectionCount()],
    ["failure", "reply", 1, 1],
  );
});

test("close waits for deliveries in progress and then closes every connection", async () => {
  let release: () => void = () => {};
  const target = await receiver((socket) => {
    release = () => respond(socket, 200);
  });
  const guarded = guardedSend();
  const underWay = guarded.send(post(target.url));
  while (target.requests.length === 0) await new Promise(setImmediate);
  const order: string[] = [];
  const closed = guarded.close().then(() => order.push("closed"));
  release();
  await underWay.then(() => order.push("delivered"));
  await closed;
  await target.allClosed();
  assert.deepEqual(order, ["delivered", "closed"]);
  await assert.rejects(guarded.send(post(target.url)), /nothing is sent after close/);
});

test("the certificate is checked against the URL's name, which is also sent to the server", async () => {
  const seen: unknown[] = [];
  const server = createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (request, response) => {
    const { socket } = request as typeof request & { socket: { servername: string; alpnProtocol: string | false } };
    seen.push([socket.servername, request.headers.host, request.httpVersion]);
    response.end("ok");
  });
  const port = await listen(server);
  const { send } = sender({
    resolve: names({ "hooks.example.test": ["127.0.0.1"], "other.example.test": ["127.0.0.1"] }),
  });
  const untrusted = await send(post(`https://hooks.example.test:${port}/`));
  setDefaultCACertificates([...getCACertificates("default"), TEST_CERTIFICATE]);
  const trusted = await send(post(`https://hooks.example.test:${port}/`));
  const wrongName = await send(post(`https://other.example.test:${port}/`));
  assert.deepEqual(
    [untimed(untrusted), trusted.kind === "reply" && trusted.body, untimed(wrongName)],
    [failure("tls_error"), "ok", failure("tls_error")],
  );
  assert.deepEqual(seen, [["hooks.example.test", `hooks.example.test:${port}`, "1.1"]]);
});

test("speaking TLS to a receiver without TLS is a TLS error", async () => {
  const target = await receiver(
    () => {},
    (socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
  );
  const result = await sender().send(post(`https://127.0.0.1:${target.port}/`));
  assert.deepEqual(untimed(result), failure("tls_error"));
});

test("a request that can't be written is our bug, not the receiver's fault", async () => {
  const target = await receiver((socket) => respond(socket, 200));
  const guarded = guardedSend({ docsUrl: "https://docs.example/\r\nInjected: yes" });
  await assert.rejects(guarded.send(post(target.url)), /undici refused the request/);
  await guarded.close();
  assert.equal(target.requests.length, 0);
});

async function listen(server: TlsServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push({
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

// For these tests only: CN and alternative name hooks.example.test, self-signed, valid from 2000 to 2100.
const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHhk/ulnr4Pk/h/4I
rNCbkviYn4vMNO7DZ9SSDg+6gBWhRANCAATvdukJ5zCeFTjoidGGK+kkmu9DN3gW
6PPxXcK4a90nwlhsxtWYVLTx8DuRhEGLA4KWS+k8GqwuOm+/UtSnsntE
-----END PRIVATE KEY-----`;
const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfTCCASKgAwIBAgIBATAKBggqhkjOPQQDAjAdMRswGQYDVQQDDBJob29rcy5l
eGFtcGxlLnRlc3QwIBcNMDAwMTAxMDAwMDAwWhgPMjEwMDAxMDEwMDAwMDBaMB0x
GzAZBgNVBAMMEmhvb2tzLmV4YW1wbGUudGVzdDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABO926QnnMJ4VOOiJ0YYr6SSa70M3eBbo8/Fdwrhr3SfCWGzG1ZhUtPHw
O5GEQYsDgpZL6TwarC46b79S1Keye0SjUTBPMA8GA1UdEwEB/wQFMAMBAf8wHQYD
VR0RBBYwFIISaG9va3MuZXhhbXBsZS50ZXN0MB0GA1UdDgQWBBQB1u2JEKSs+xNu
TYyxQ7m5qx9/yDAKBggqhkjOPQQDAgNJADBGAiEAwG4X9hoNGBng1yS+rE21nTVV
X5wZHJozASk02ReetykCIQDttc90QyHVx93gveBJx6+3gh6m0pXtFj7WnEFLipQV
LQ==
-----END CERTIFICATE-----`;
