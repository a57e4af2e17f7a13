import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { createTestApp } from "../../../test/support/app/app.ts";
import { makeCaller } from "../../../test/support/app/read-api.ts";
import { openWire, type WireResponse } from "../../../test/support/app/wire.ts";
import { until } from "../../../test/support/until.ts";

const { app, deps, lines } = await createTestApp();
const { port, exchange } = await openWire(app);
const { key, widgetId } = await makeCaller(deps.db);

const AUTHORIZATION = `Authorization: Bearer ${key}`;

/** A request as text: request line, headers, body. The server closes the connection after it. */
function write(firstLine: string, headers: readonly string[] = [AUTHORIZATION], body = ""): string {
  return [firstLine, "Host: api.example", "Connection: close", ...headers, "", body].join("\r\n");
}

function assertCommon(response: WireResponse | null): asserts response is WireResponse {
  assert.ok(response, "the server closed without a response");
  assert.equal(response.headers["content-type"], "application/json; charset=utf-8");
  assert.equal(response.headers["cache-control"], "no-store");
  assert.equal(response.headers["x-content-type-options"], "nosniff");
  assert.match(String(response.headers["x-request-id"]), /^req_[1-9A-HJ-NP-Za-km-z]{16}$/);
  assert.equal(response.headers["connection"], "close");
}

const NOT_HTTP: readonly [what: string, bytes: string | Buffer, status: string][] = [
  ["a greeting", "hello there\r\n\r\n", "400 Bad Request"],
  [
    "a TLS handshake",
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
    "400 Bad Request",
  ],
  ["zeros", Buffer.alloc(100), "400 Bad Request"],
  ["HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 Bad Request"],
  ["another version of HTTP", write("GET /api/v1/widgets HTTP/3.0"), "400 Bad Request"],
  ["a method that is not a word", write("GE(T /api/v1/widgets HTTP/1.1"), "400 Bad Request"],
  ["an unknown method and no version", "BREW /api/v1/widgets\r\n\r\n", "400 Bad Request"],
  ["a path without a slash", write("GET api/v1/widgets HTTP/1.1"), "400 Bad Request"],
  ["a null character in the path", write("GET /api/v1/wid\0gets HTTP/1.1"), "400 Bad Request"],
  ["a header without a colon", write("GET /api/v1/widgets HTTP/1.1", ["nonsense"]), "400 Bad Request"],
  ["a null character in a header", write("GET /api/v1/widgets HTTP/1.1", ["X: a\0b"]), "400 Bad Request"],
  [
    "two lengths",
    write("POST /api/v1/widgets HTTP/1.1", ["Content-Length: 3", "Content-Length: 4"], "abcd"),
    "400 Bad Request",
  ],
  [
    "a length and chunks",
    write("POST /x HTTP/1.1", ["Content-Length: 3", "Transfer-Encoding: chunked"], "0\r\n\r\n"),
    "400 Bad Request",
  ],
  ["an unknown transfer encoding", write("GET /api/v1/widgets HTTP/1.1", ["Transfer-Encoding: x"]), "400 Bad Request"],
  [
    "headers of 20 kB",
    write("GET /api/v1/widgets HTTP/1.1", [`X: ${"x".repeat(20_000)}`]),
    "431 Request Header Fields Too Large",
  ],
  [
    "an address of 20 kB",
    write(`GET /api/v1/widgets?x=${"x".repeat(20_000)} HTTP/1.1`),
    "431 Request Header Fields Too Large",
  ],
];

for (const [what, bytes, status] of NOT_HTTP) {
  test(`${what} gets ${status} in the error shape`, async () => {
    const response = await exchange(bytes);
    assertCommon(response);
    assert.equal(response.statusLine, `HTTP/1.1 ${status}`);
    const message = status.startsWith("431") ? "The URL and headers are too long." : "The request is not valid HTTP.";
    assert.equal(response.body, JSON.stringify({ error: { code: "bad_request", message } }));
    assert.equal(response.headers["content-length"], String(response.body.length));
  });
}

test("an unknown method gets 501 in the error shape", async () => {
  for (const path of ["/api/v1/widgets", "/nowhere"]) {
    const response = await exchange(write(`BREW ${path} HTTP/1.1`));
    assertCommon(response);
    assert.equal(response.statusLine, "HTTP/1.1 501 Not Implemented");
    assert.equal(JSON.parse(response.body).error.code, "not_implemented");
  }
});

test("HTTP/1.1 without a Host header is 400 in the error shape, even with a valid key", async () => {
  for (const path of ["/api/v1/widgets", "/api/v1/nothing", "/healthz"]) {
    const response = await exchange(`GET ${path} HTTP/1.1\r\nConnection: close\r\n${AUTHORIZATION}\r\n\r\n`);
    assertCommon(response);
    assert.equal(response.statusLine, "HTTP/1.1 400 Bad Request");
    assert.equal(response.body, '{"error":{"code":"bad_request","message":"The request has no Host header."}}');
  }
});

test("HTTP/1.0 needs no Host header", async () => {
  const response = await exchange(`GET /api/v1/widgets HTTP/1.0\r\n${AUTHORIZATION}\r\n\r\n`);
  assertCommon(response);
  assert.equal(response.statusLine, "HTTP/1.1 200 OK");
});

const WIDGETS = new RegExp(`^{"data":\\[{"id":"${widgetId}"`);

const SERVED: readonly [what: string, bytes: string][] = [
  ["an absolute address", write("GET http://api.example/api/v1/widgets HTTP/1.1")],
  ["an unknown expectation", write("GET /api/v1/widgets HTTP/1.1", [AUTHORIZATION, "Expect: a-miracle"])],
  ["an upgrade request", write("GET /api/v1/widgets HTTP/1.1", [AUTHORIZATION, "Upgrade: websocket"])],
  [
    "a body",
    write(
      "GET /api/v1/widgets HTTP/1.1",
      [AUTHORIZATION, "Content-Type: application/json", "Content-Length: 3"],
      "{x}",
    ),
  ],
  [
    "a header name in capitals",
    write("GET /api/v1/widgets HTTP/1.1", [AUTHORIZATION.replace("Authorization", "AUTHORIZATION")]),
  ],
  ["spaces around the key", write("GET /api/v1/widgets HTTP/1.1", [`Authorization:   Bearer   ${key}   `])],
];

for (const [what, bytes] of SERVED) {
  test(`a request with ${what} is served normally`, async () => {
    const response = await exchange(bytes);
    assertCommon(response);
    assert.equal(response.statusLine, "HTTP/1.1 200 OK");
    assert.match(response.body, WIDGETS);
  });
}

test("two Authorization headers give 401, whichever one is valid", async () => {
  for (const headers of [
    [AUTHORIZATION, "authorization: Bearer other"],
    ["AUTHORIZATION: Bearer other", AUTHORIZATION],
    [AUTHORIZATION, AUTHORIZATION],
  ]) {
    const response = await exchange(write("GET /api/v1/widgets HTTP/1.1", headers));
    assertCommon(response);
    assert.equal(response.statusLine, "HTTP/1.1 401 Unauthorized");
  }
});

test("HEAD has the length of GET's body and no body, errors included", async () => {
  for (const path of [
    "/api/v1/widgets",
    "/api/v1/bookings/",
    "/api/v1/bookings?limit=0",
    "/api/v1/nothing",
    "/api/v1/%zz",
  ]) {
    const get = await exchange(write(`GET ${path} HTTP/1.1`));
    const head = await exchange(write(`HEAD ${path} HTTP/1.1`));
    assertCommon(get);
    assertCommon(head);
    assert.equal(head.statusLine, get.statusLine);
    assert.deepEqual([head.headers["content-length"], head.body], [String(get.body.length), ""], path);
  }
});

test("OPTIONS for the whole server is refused", async () => {
  const response = await exchange(write("OPTIONS * HTTP/1.1"));
  assertCommon(response);
  assert.equal(response.statusLine, "HTTP/1.1 405 Method Not Allowed");
});

test("a refused method is answered before its large body has arrived", async () => {
  const response = await exchange(
    write("POST /api/v1/bookings HTTP/1.1", ["Content-Length: 5000000"], "x".repeat(100_000)),
  );
  assertCommon(response);
  assert.equal(response.statusLine, "HTTP/1.1 405 Method Not Allowed");
});

test("a path that climbs out of a static folder is not found", async () => {
  for (const path of [
    "/assets/dashboard/../../../package.json",
    "/assets/dashboard/%2e%2e/%2e%2e/%2e%2e/package.json",
    "/assets/dashboard/..%2f..%2f..%2fpackage.json",
    "/assets/dashboard/..\\..\\package.json",
    "/assets/dashboard/%00",
    "/assets/dashboard/a%00.js",
    "/assets/dashboard/.hidden",
    "/assets/dashboard/",
    "/assets/dashboard",
    `/assets/dashboard/${"x".repeat(5_000)}`,
    "/assets/frame/../../../../etc/passwd",
    "http://other.example/assets/dashboard/../../../package.json",
  ]) {
    const response = await exchange(write(`GET ${path} HTTP/1.1`, []));
    assertCommon(response);
    assert.equal(response.statusLine, "HTTP/1.1 404 Not Found", path);
    assert.equal(JSON.parse(response.body).error.code, "not_found", path);
  }
});

test("two Host headers, or one that looks like two, are 400 for every path", async () => {
  for (const path of ["/api/v1/widgets", "/healthz", "/nowhere"]) {
    for (const hosts of ["Host: a.example\r\nHost: b.example", "Host: a.example\r\nhost: a.example"]) {
      const response = await exchange(
        `GET ${path} HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n${AUTHORIZATION}\r\n\r\n`,
      );
      assertCommon(response);
      assert.equal(response.statusLine, "HTTP/1.1 400 Bad Request");
      assert.equal(
        response.body,
        '{"error":{"code":"bad_request","message":"The request has more than one Host header."}}',
      );
    }
  }
});

/** A chunked body without a declared length; 26 MB is far above every limit. */
function writeChunked(firstLine: string, type: string): string {
  const origin = `Origin: ${new URL(deps.config.baseUrl).origin}`;
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  return `${write(firstLine, [`Content-Type: ${type}`, origin, "Transfer-Encoding: chunked"])}${chunk.repeat(400)}0\r\n\r\n`;
}

test("a chunked body is read no further than its route's limit", async () => {
  const token = `${"a".repeat(12)}222222${"a".repeat(24)}`;
  for (const [route, type] of [
    [`POST /manage/${token}`, "application/x-www-form-urlencoded"],
    [`POST /embed-api/${widgetId}/events`, "text/plain"],
    [`POST /embed-api/${widgetId}/bookings`, "application/json"],
    ["POST /api/auth/sign-out", "application/json"],
    ["POST /api/app/setup", "application/json"],
  ] as const) {
    const response = await exchange(writeChunked(`${route} HTTP/1.1`, type));
    assertCommon(response);
    assert.equal(response.statusLine, "HTTP/1.1 413 Payload Too Large", route);
    assert.equal(JSON.parse(response.body).error.code, "payload_too_large", route);
  }
});

test("a repeated or non-numeric Content-Length is invalid HTTP", async () => {
  for (const lengths of [
    ["Content-Length: 2", "Content-Length: 2"],
    ["Content-Length: 2, 2"],
    ["Content-Length: -1"],
    ["Content-Length: 0x2"],
    ["Content-Length: 99999999999999999999"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
    ["Transfer-Encoding: chunked, chunked"],
  ]) {
    const response = await exchange(
      write("POST /api/auth/sign-out HTTP/1.1", ["Content-Type: application/json", ...lengths], "{}"),
    );
    assertCommon(response);
    assert.equal(response.statusLine, "HTTP/1.1 400 Bad Request", lengths.join("; "));
  }
});

test("headers must arrive sooner than a whole request, and a request that is too slow is refused soon after", async () => {
  const { server } = app;
  assert.ok(server.headersTimeout < server.requestTimeout);
  const usual = server.headersTimeout;
  server.headersTimeout = 1;
  try {
    const slow = exchange("GET /api/v1/widgets HTTP/1.1\r\nHost: api.example\r\n");
    const response = await Promise.race([slow, once(AbortSignal.timeout(60_000), "abort")]);
    assert.ok(response && "statusLine" in response, "nothing was answered for a minute");
    assert.equal(response.statusLine, "HTTP/1.1 408 Request Timeout");
  } finally {
    server.headersTimeout = usual;
  }
});

test("a client that hangs up in the middle of a body is not an error of ours", async () => {
  lines.splice(0);
  const socket = connect(port, "127.0.0.1");
  const head = ["Host: api.example", "Content-Type: application/json", "Content-Length: 1000", "", '{"visitId":'];
  socket.write([`POST /embed-api/${widgetId}/events HTTP/1.1`, ...head].join("\r\n"));
  await once(app.server, "request");
  socket.destroy();
  await until(() => lines.length > 0, "it is logged");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)).map(({ level, name }) => [level, name]),
    [["debug", "request.canceled"]],
  );
});
