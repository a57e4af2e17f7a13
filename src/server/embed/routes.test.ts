import assert from "node:assert/strict";
import { describe, test } from "node:test";
import Fastify from "fastify";
import type { WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { makeOrganization, makeWidget, updateWidget } from "../../../test/support/builders.ts";
import { installErrorHandler } from "../http/errors/error-handler.ts";
import { embedPageRoutes } from "./routes.ts";

const { app, deps } = await createTestApp({ baseUrl: "https://book.example" });
const owner = await makeOrganization(deps.db);

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors %; base-uri 'none'; form-action 'none'";

function ask(url: string, headers: Record<string, string> = {}) {
  return app.inject({ url, headers });
}

function listFiles(body: string): string[] {
  return [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, address = ""]) => address);
}

describe("the booking frame's page", () => {
  test("can be framed by any page, sets no cookie, and runs only our own files", async () => {
    const response = await ask(`/embed/${await makeWidget(deps.db, owner)}`);
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers["content-security-policy"], POLICY.replace("%", "*"));
    assert.equal(response.headers["cache-control"], "no-cache");
    assert.equal(response.headers["content-type"], "text/html; charset=utf-8");
    assert.equal(response.headers["x-robots-tag"], "noindex");
    assert.equal(response.headers["x-frame-options"], undefined);
    assert.equal(response.headers["set-cookie"], undefined);
    assert.doesNotMatch(response.body, /<script(?![^>]* src=)|style=|onclick|<style/i);
  });

  test("can be framed only by the pages the widget allows and by the dashboard", async () => {
    const id = await makeWidget(deps.db, owner);
    await updateWidget(deps.db, id, { allowed_domains: ["lindenhof.example", "*.lindenhof.example"] });
    const { headers } = await ask(`/embed/${id}`);
    assert.equal(
      headers["content-security-policy"],
      POLICY.replace("%", "'self' lindenhof.example *.lindenhof.example"),
    );
  });

  test("cannot be framed when opened on its own, and search engines can find it", async () => {
    const { headers, statusCode } = await ask(`/w/${await makeWidget(deps.db, owner)}`);
    assert.equal(statusCode, 200);
    assert.equal(headers["content-security-policy"], POLICY.replace("%", "'none'"));
    assert.equal(headers["x-robots-tag"], undefined);
  });

  test("shows the business name as text, whatever it contains", async () => {
    const id = await makeWidget(deps.db, owner);
    await updateWidget(deps.db, id, { business_name: `</title><script>"x"</script>&` });
    const { body } = await ask(`/w/${id}`);
    assert.ok(body.includes("&lt;/title&gt;&lt;script&gt;&quot;x&quot;&lt;/script&gt;&amp;"));
    assert.doesNotMatch(body, /<script>/);
  });

  test("links to a booking page for browsers without JavaScript, but never to itself", async () => {
    const id = await makeWidget(deps.db, owner);
    const findLink = async (path: string) => {
      const { body } = await ask(path);
      assert.ok(body.includes("Please turn on JavaScript in your browser to book."));
      return /<noscript>.*<a href="([^"]+)".*<\/noscript>/.exec(body)?.[1] ?? null;
    };
    const findLinks = async () => [await findLink(`/embed/${id}`), await findLink(`/w/${id}`)];
    const own = `https://book.example/w/${id}`;
    for (const booking_url of [null, own]) {
      await updateWidget(deps.db, id, { booking_url });
      assert.deepEqual(await findLinks(), [own, null]);
    }
    const elsewhere = "https://scheduler.example/lindenhof";
    await updateWidget(deps.db, id, { booking_url: elsewhere });
    assert.deepEqual(await findLinks(), [elsewhere, elsewhere]);
  });

  test("has its template and accent, and so does the configuration", async () => {
    const id = await makeWidget(deps.db, owner);
    await updateWidget(deps.db, id, { template: "minimal", accent_color: "#0a7a55" });
    const { body } = await ask(`/embed/${id}`);
    assert.match(body, /data-template="minimal"/);
    assert.match(body, /data-accent="#0a7a55"/);
    const { widget } = (await ask(`/embed-api/${id}/config`)).json();
    assert.deepEqual([widget.template, widget.accentColor], ["minimal", "#0a7a55"]);
  });

  test("starts in the language the browser asks for", async () => {
    const id = await makeWidget(deps.db, owner);
    const { body, headers } = await ask(`/embed/${id}`, { "accept-language": "ja, fr-CH;q=0.8, de;q=0.9" });
    assert.match(body, /<html lang="de"/);
    assert.match(body, /modulepreload" href="\/assets\/frame\/de-/);
    assert.equal(headers.vary, "Accept-Language");
  });
});

test("is a polite page for a widget that does not exist, the same for every wrong id", async () => {
  for (const kind of ["embed", "w"]) {
    const bodies = new Set<string>();
    for (const id of ["w_111111111111" as WidgetId, "nonsense", "w_1", "%3Cscript%3E"]) {
      const response = await ask(`/${kind}/${id}`, { "accept-language": "es" });
      assert.equal(response.statusCode, 404);
      assert.equal(response.headers["content-type"], "text/html; charset=utf-8");
      assert.match(response.body, /Página de reservas no encontrada/);
      bodies.add(response.body);
    }
    assert.equal(bodies.size, 1);
  }
});

test("has files that are cached for a year, and compressed if the browser accepts that", async () => {
  const { body } = await ask(`/embed/${await makeWidget(deps.db, owner)}`);
  const files = listFiles(body);
  assert.equal(files.length, 3);
  for (const file of files) {
    for (const encoding of ["br", "gzip", "identity"]) {
      const response = await ask(file, { "accept-encoding": encoding });
      assert.equal(response.statusCode, 200, file);
      assert.equal(response.headers["cache-control"], "public, max-age=31536000, immutable");
      assert.equal(response.headers["content-encoding"] ?? "identity", encoding);
      assert.match(String(response.headers["content-type"]), /^(application\/javascript|text\/css)/);
      assert.equal(response.headers["x-content-type-options"], "nosniff");
    }
  }
  for (const other of ["/assets/frame/none.js", "/assets/frame/../../package.json", "/assets/frame/%2e%2e/loader.js"])
    assert.ok([400, 403, 404].includes((await ask(other)).statusCode), other);
});

describe("the test page", () => {
  test("has the widget's snippet in each display mode, runs only our own files, and isn't found by search engines", async () => {
    const id = await makeWidget(deps.db, owner);
    const inline = await ask(`/test-page/${id}`);
    assert.equal(inline.statusCode, 200);
    assert.ok(inline.body.includes(`<script async src="/loader.js"></script>\n<svc-booking widget="${id}">`));
    assert.match(
      String(inline.headers["content-security-policy"]),
      /^default-src 'none';.*; script-src 'self'; frame-src 'self'$/,
    );
    assert.equal(inline.headers["x-robots-tag"], "noindex");
    assert.ok((await ask(`/test-page/${id}?show=popup`)).body.includes(`data-svc-open="${id}"`));
    assert.ok((await ask(`/test-page/${id}?show=float`)).body.includes(`data-widget="${id}" data-mode="float"`));
  });

  test("of an unknown widget does not exist", async () => {
    for (const id of ["w_Unknown11111", "%3Cscript%3E"]) assert.equal((await ask(`/test-page/${id}`)).statusCode, 404);
  });
});

test("refuses other methods and lists the allowed ones", async () => {
  const response = await app.inject({ method: "POST", url: `/embed/${await makeWidget(deps.db, owner)}` });
  assert.deepEqual([response.statusCode, response.headers.allow], [405, "GET, HEAD"]);
});

test("says what to do before anything is built, and the service still runs", async () => {
  const bare = Fastify();
  installErrorHandler(bare, deps);
  await embedPageRoutes(bare, deps, null);
  const response = await bare.inject(`/embed/${await makeWidget(deps.db, owner)}`);
  assert.deepEqual([response.statusCode, response.json().error.code], [503, "unavailable"]);
  assert.match(response.json().error.message, /npm run build/);
});
