import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { createTestApp } from "../../../test/support/app/app.ts";
import { errorResponse, getJson, makeCaller } from "../../../test/support/app/read-api.ts";
import { makeBooking, NOON } from "../../../test/support/builders.ts";
import { revokeOwnKey } from "../api-keys/app-queries.ts";

const { app, deps, lines } = await createTestApp();

const business = await makeCaller(deps.db);
await makeBooking(deps.db, business.owner, { widgetId: business.widgetId });
const pro = await makeCaller(deps.db, { plan: "pro" });
const revoked = await makeCaller(deps.db);
await revokeOwnKey(deps.db, revoked.owner, { id: revoked.keyId, now: NOON });

const ROUTES = ["/api/v1/widgets", "/api/v1/bookings"];
// The type of inject's method has only the common ones.
const OTHER_METHODS = [
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "QUERY",
  "MKCOL",
  "PURGE",
] as "POST"[];

/** Widgets can also be created, with a key that has `manage`. */
const ALLOWED: Readonly<Record<string, string>> = {
  "/api/v1/widgets": "GET, HEAD, POST",
  "/api/v1/bookings": "GET, HEAD",
};

function listOtherMethods(url: string): "POST"[] {
  return OTHER_METHODS.filter((method) => !ALLOWED[url]?.includes(method));
}

/** Every kind of response: the request, and the expected status. */
const ANSWERS: readonly [request: InjectOptions, status: number][] = [
  ...ROUTES.flatMap((url): [InjectOptions, number][] => [
    [{ url, headers: business.headers }, 200],
    [{ url: `${url}/`, headers: business.headers }, 200],
    [{ url, method: "HEAD", headers: business.headers }, 200],
    [{ url }, 401],
    [{ url, method: "HEAD" }, 401],
    [{ url, headers: revoked.headers }, 401],
    [{ url, headers: pro.headers }, 403],
    ...listOtherMethods(url).map((method): [InjectOptions, number] => [{ url, method }, 405]),
  ]),
  [{ url: "/api/v1/bookings?since=never", headers: business.headers }, 400],
  [{ url: "/api/v1/bookings?limit=0", method: "HEAD", headers: business.headers }, 400],
  [{ url: "/api/v1/bookings?limit=1&limit=1", headers: business.headers }, 400],
  [{ url: "/api/v1/bookings?widget=w_none", headers: business.headers }, 404],
  [{ url: "/api/v1/%zz" }, 400],
  [{ url: "/api/v1/%zz", method: "HEAD" }, 400],
  [{ url: "/api/v1/bookings%", headers: business.headers }, 400],
  [{ url: "/%E0%A4%A" }, 400],
  [{ url: "/api/v1" }, 404],
  [{ url: "/api/v1/" }, 404],
  [{ url: "/api" }, 404],
  [{ url: "/api/v2/bookings", headers: business.headers }, 404],
  [{ url: "/api/v1/bookings/SVC-222222", headers: business.headers }, 404],
  [{ url: "/api/v1/nothing", method: "HEAD" }, 404],
  [{ url: "/api/v1/nothing", method: "DELETE", payload: "{" }, 404],
  [{ url: "/nothing/at/all" }, 404],
];

function describe({ method = "GET", url, headers }: InjectOptions): string {
  return `${method} ${String(url)}${headers ? " with a key" : ""}`;
}

for (const [request, status] of ANSWERS) {
  test(`${describe(request)} gets ${status}, in JSON, uncached and with a request id`, async () => {
    const response = await app.inject(request);
    assert.equal(response.statusCode, status);
    assertCommonHeaders(response);
    // Only on-the-wire.test.ts can see that HEAD has no body.
    if (request.method !== "HEAD" && status !== 200) assertErrorShape(response);
  });
}

function assertCommonHeaders({ headers }: LightMyRequestResponse): void {
  assert.equal(headers["content-type"], "application/json; charset=utf-8");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.match(String(headers["x-request-id"]), /^req_[1-9A-HJ-NP-Za-km-z]{16}$/);
  const never = ["etag", "last-modified", "location", "expires", "set-cookie", "server", "x-powered-by", "vary"];
  const present = Object.keys(headers).filter((name) => never.includes(name) || name.startsWith("access-control-"));
  assert.deepEqual(present, []);
}

/** Exactly `{ error: { code, message } }`. */
function assertErrorShape(response: LightMyRequestResponse): void {
  const body = response.json() as { error: { code: string; message: string } };
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error), ["code", "message"]);
  assert.match(body.error.code, /^[a-z_]+$/);
  assert.match(body.error.message, /^[A-Z].*\.$/);
}

const NOTHING_HERE = errorResponse(404, "not_found", "Nothing exists at this URL. Check the path.");

test("an unknown path is 404 for everyone, with any method, under /api and elsewhere", async () => {
  for (const url of [
    "/api/v1/nothing",
    "/api/v1/analytic",
    "/api/v1",
    "/api/v1/bookings/x/y",
    "/nothing",
    "/api/v1/analytics//",
  ]) {
    for (const headers of [{}, business.headers, pro.headers, revoked.headers, { authorization: "Basic x" }]) {
      for (const method of ["GET" as const, ...OTHER_METHODS]) {
        const response = await app.inject({ url, method, headers });
        assert.deepEqual({ status: response.statusCode, body: response.json() }, NOTHING_HERE, `${method} ${url}`);
        assert.equal(response.headers["www-authenticate"], undefined);
      }
    }
  }
});

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

test("a person who opens an unknown address gets a page that says so, with the styles that its policy allows", async () => {
  for (const url of ["/nothing", "/apixyz", "/w", "/assets"]) {
    const { statusCode, headers, body } = await app.inject({ url, headers: BROWSER });
    assert.equal(statusCode, 404, url);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.equal(headers["cache-control"], "no-store");
    assert.ok(body.includes("<h1>Page not found</h1>"));
    const [, style = ""] = /<style>(.*)<\/style>/s.exec(body) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    assert.ok(String(headers["content-security-policy"]).includes(`style-src 'sha256-${hash}';`));
    assert.ok(style.includes("h1 {"));
  }
});

test("programs get JSON at an unknown address, and so does everyone at an address of the APIs", async () => {
  for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.9", "text/html;q=0", ""])
    assert.deepEqual(await getJson(app, "/nothing", { accept }), NOTHING_HERE, accept);
  for (const url of ["/api", "/api?x", "/api/v1/nothing", "/embed-api/nothing/at/all"])
    assert.deepEqual(await getJson(app, url, BROWSER), NOTHING_HERE, url);
  assert.equal(
    (await app.inject({ url: "/app", method: "POST", headers: BROWSER })).json().error.code,
    "method_not_allowed",
  );
});

test("paths are case-sensitive and have one spelling, apart from percent-encoding", async () => {
  for (const url of [
    "/API/v1/bookings",
    "/api/V1/bookings",
    "/api/v1/Bookings",
    "//api/v1/bookings",
    "/api//v1/bookings",
  ])
    assert.deepEqual(await getJson(app, url, business.headers), NOTHING_HERE, url);
  for (const url of [
    "/api/v1/bookings%2F",
    "/api/v1%2Fbookings",
    "/api/v1/bookings;x",
    "/api/v1/bookings%00",
    "/api/v1/bookings.json",
  ])
    assert.deepEqual(await getJson(app, url, business.headers), NOTHING_HERE, url);
  assert.equal((await getJson(app, "/api/v1/%62ookings", business.headers)).status, 200);
});

test("a path that cannot be decoded is 400 and not repeated in the response", async () => {
  for (const url of ["/%", "/%zz", "/api/v1/%zz", "/api/v1/bookings%", "/api/v1/%c3%28", "/api/v1/%ff?since=x"]) {
    for (const headers of [{}, business.headers]) {
      assert.deepEqual(
        await getJson(app, url, headers),
        errorResponse(400, "bad_request", "The URL has malformed percent-encoding."),
        url,
      );
    }
  }
});

test("other methods get 405 with Allow, before the key is checked", async () => {
  for (const url of ROUTES) {
    for (const path of [url, `${url}/`, `${url}?since=never&widget=w_none`]) {
      for (const method of listOtherMethods(url)) {
        for (const headers of [{}, business.headers, pro.headers]) {
          const response = await app.inject({ url: path, method, headers });
          assert.deepEqual(
            { status: response.statusCode, allow: response.headers["allow"], body: response.json() },
            {
              status: 405,
              allow: ALLOWED[url],
              body: { error: { code: "method_not_allowed", message: `This URL only supports ${ALLOWED[url]}.` } },
            },
            `${method} ${path}`,
          );
        }
      }
    }
  }
});

test("an unknown path is 404 and a wrong method 405 whatever the body: it is not even read", async () => {
  for (const [type, payload] of [
    ["application/json", "{"],
    ["application/json", '{"name":"x"}'],
    ["application/json", ""],
    ["application/xml", "<x/>"],
    ["multipart/form-data", "x"],
    ["not a type", "x"],
    ["", "x"],
    ["application/json", `"${"x".repeat(100_000)}"`],
  ] as const) {
    for (const method of OTHER_METHODS) {
      const request = { method, headers: { "content-type": type }, payload };
      const [unknown, known] = await Promise.all(
        ["/api/v1/nothing", "/api/v1/bookings"].map((url) => app.inject({ ...request, url })),
      );
      assert.deepEqual(
        [unknown?.statusCode, known?.statusCode],
        [404, 405],
        `${method} ${type} ${payload.slice(0, 20)}`,
      );
    }
  }
});

test("no header turns GET into another method, and a preflight gets no permission", async () => {
  const overridden = await app.inject({
    url: "/api/v1/widgets?_method=DELETE",
    headers: { ...business.headers, "x-http-method-override": "DELETE" },
  });
  assert.equal(overridden.statusCode, 200);
  const preflight = await app.inject({
    url: "/api/v1/bookings",
    method: "OPTIONS",
    headers: {
      origin: "https://shop.example",
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    },
  });
  assert.equal(preflight.statusCode, 405);
  assertCommonHeaders(preflight);
  const fromBrowser = await app.inject({
    url: "/api/v1/bookings",
    headers: { ...business.headers, origin: "https://shop.example" },
  });
  assertCommonHeaders(fromBrowser);
});

test("the first fault is reported, in the order path, method, key, plan, parameter, widget", async () => {
  const theirs = (await makeCaller(deps.db)).widgetId;
  const faults = `since=never&widget=${theirs}`;
  const cases: readonly [request: InjectOptions, status: number, code: string][] = [
    [{ url: `/api/v1/nothing?${faults}`, method: "POST" }, 404, "not_found"],
    [{ url: `/api/v1/bookings?${faults}`, method: "POST" }, 405, "method_not_allowed"],
    [{ url: `/api/v1/bookings?${faults}` }, 401, "unauthorized"],
    [{ url: `/api/v1/bookings?${faults}`, headers: revoked.headers }, 401, "unauthorized"],
    [{ url: `/api/v1/bookings?${faults}`, headers: pro.headers }, 403, "plan_required"],
    [{ url: `/api/v1/bookings?${faults}`, headers: business.headers }, 400, "bad_request"],
    [{ url: `/api/v1/bookings?widget=${theirs}&limit=0`, headers: business.headers }, 400, "bad_request"],
    [{ url: `/api/v1/bookings?widget=${theirs}&widget=${theirs}`, headers: business.headers }, 400, "bad_request"],
    [
      { url: `/api/v1/bookings?widget=${theirs}&cursor=${NOON.toISOString()}&until=x`, headers: business.headers },
      400,
      "bad_request",
    ],
    [{ url: `/api/v1/bookings?widget=${theirs}`, headers: business.headers }, 404, "not_found"],
  ];
  for (const [request, status, code] of cases) {
    const response = await app.inject(request);
    assert.deepEqual([response.statusCode, response.json().error.code], [status, code], describe(request));
  }
});

test("HEAD returns exactly the headers of GET", async () => {
  for (const url of [
    ...ROUTES,
    "/api/v1/bookings?limit=0",
    "/api/v1/bookings?widget=w_none",
    "/api/v1/nothing",
    "/healthz",
  ]) {
    const [get, head] = await Promise.all(
      (["GET", "HEAD"] as const).map((method) => app.inject({ url, method, headers: business.headers })),
    );
    const withoutOwn = (response: LightMyRequestResponse | undefined) => {
      const { "x-request-id": _id, ratelimit: _count, date: _date, ...same } = response?.headers ?? {};
      return [response?.statusCode, same];
    };
    assert.deepEqual(withoutOwn(head), withoutOwn(get), url);
    assert.ok(Number(head?.headers["content-length"]) > 0);
  }
});

test("a trailing slash is ignored, never redirected", async () => {
  for (const url of ROUTES) {
    const [without, withSlash, withQuery] = await Promise.all(
      [url, `${url}/`, `${url}/?limit=1`].map((each) => getJson(app, each, business.headers)),
    );
    assert.deepEqual(withSlash, without);
    assert.deepEqual(withQuery, without);
    assert.equal((await getJson(app, `${url}/`)).status, 401);
  }
});

test("a conditional or partial request gets the whole response: nothing here is cached", async () => {
  const headers = {
    ...business.headers,
    "if-none-match": "*",
    "if-modified-since": "Sun, 01 Nov 2026 12:00:00 GMT",
    range: "bytes=0-1",
    accept: "text/html",
    "accept-encoding": "gzip, br",
  };
  const response = await app.inject({ url: "/api/v1/widgets", headers });
  assert.equal(response.statusCode, 200);
  assertCommonHeaders(response);
  assert.equal(response.json().data.length, 1);
});

test("every response has its own request id, and the request's log line has the same", async () => {
  const ids = new Set<string>();
  const asked: InjectOptions[] = [
    { url: "/api/v1/widgets", headers: business.headers },
    { url: "/api/v1/widgets", headers: { ...business.headers, "x-request-id": "mine\u0009", "request-id": "mine" } },
    { url: "/api/v1/widgets" },
    { url: "/api/v1/nothing" },
    { url: "/api/v1/widgets", method: "POST" },
  ];
  for (const request of asked) {
    const linesBefore = lines.length;
    const id = String((await app.inject(request)).headers["x-request-id"]);
    ids.add(id);
    const logged = lines.slice(linesBefore).map((line) => JSON.parse(line));
    assert.deepEqual(
      logged.map((line) => [line.name, line.requestId]),
      [["request.finished", id]],
    );
  }
  assert.equal(ids.size, asked.length);
  assert.ok(![...ids].some((id) => id.includes("mine")));
});

test("a caller's own request id is kept if it is short and plain, and nothing else is", async () => {
  const answered = async (id: string) => {
    const { headers } = await app.inject({
      url: "/api/v1/widgets",
      headers: { ...business.headers, "x-request-id": id },
    });
    return headers["x-request-id"];
  };
  for (const id of ["trace-01", "4bf92f3577b34da6a3ce929d0e0e4736", "a".repeat(64)])
    assert.equal(await answered(id), id);
  for (const id of ["short", "a".repeat(65), "mara@example.com", "two words here", "line\u0085break", "10.0.0.1-abc"])
    assert.match(String(await answered(id)), /^req_/, id);
});

test("browsers are told to stay on https when BASE_URL is https, and only then", async () => {
  const paths = ["/healthz", "/nowhere", "/sign-in", "/api/v1/widgets"];
  const listHsts = async (baseUrl: string) => {
    const { app: service } = await createTestApp({ baseUrl });
    const responses = await Promise.all(paths.map((url) => service.inject(url)));
    return responses.map(({ headers }) => headers["strict-transport-security"]);
  };
  assert.deepEqual(
    await listHsts("https://book.example"),
    paths.map(() => "max-age=31536000"),
  );
  assert.deepEqual(
    await listHsts("http://book.example"),
    paths.map(() => undefined),
  );
});
