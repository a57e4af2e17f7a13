import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createTestApp } from "../../../test/support/app/app.ts";
import { openSearch } from "../../docs/search/search.ts";
import { renderMarkdown } from "./markdown.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const { app } = await createTestApp();

type Page = { readonly body: string; readonly links: readonly string[]; readonly anchors: ReadonlySet<string> };

/** Every page a reader can reach from /docs, by address. */
const pages = await walk("/docs");

async function walk(start: string): Promise<Map<string, Page>> {
  const found = new Map<string, Page>();
  const waiting = [start];
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (found.has(address)) continue;
    const response = await app.inject(address);
    assert.equal(response.statusCode, 200, address);
    if (!String(response.headers["content-type"]).startsWith("text/html")) continue;
    const { body } = response;
    const links = [...body.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);
    const anchors = new Set([...body.matchAll(/ id="([^"]*)"/g)].map(([, anchor = ""]) => anchor));
    found.set(address, { body, links, anchors });
    waiting.push(...links.filter((link) => link.startsWith("/docs")).map((link) => link.split("#")[0] ?? ""));
  }
  return found;
}

describe("the documents at /docs", () => {
  test("every Markdown file in docs/ is served, and can be reached from the first page", () => {
    const files = globSync("docs/**/*.md", { cwd: ROOT }).map((path) => path.replaceAll("\\", "/"));
    assert.ok(files.length > 15);
    for (const file of files) assert.ok(pages.has(`/${file.replace(/\.md$/, "")}`), file);
  });

  test("each section lists the documents for its readers, and a document's menu lists only those", () => {
    const { body = "" } = pages.get("/docs") ?? {};
    const [, owners = "", developers = "", operating = "", contributing = ""] =
      body.split(/<ul class="(?:cards|rows)">/);
    const listed = (text: string) => [...text.matchAll(/<li><a href="([^"]*)">[^<]+<\/a><p>/g)].map(([, link]) => link);
    const toNames = (text: string) => listed(text).map((link) => link?.replace("/docs/", ""));
    const ofDevelopers = ["webhooks", "read-api", "management-api", "assistants", "client-library", "api", "spec"];
    assert.deepEqual(toNames(owners), ["quick-start", "embedding", "scheduling-systems", "analytics", "bookings"]);
    assert.deepEqual(toNames(developers), ofDevelopers);
    assert.deepEqual(toNames(operating), [
      "operating",
      "settings",
      "backup",
      "monitoring",
      "security",
      "exports",
      "imports",
      "capacity",
      "scale",
      "changelog",
    ]);
    assert.deepEqual(toNames(contributing), [
      "contributing",
      "architecture",
      "glossary",
      "reliability",
      "performance",
      "scale-measurements",
      "decisions",
    ]);
    const [, menu = ""] = /<div class="documents">(.*?)<\/div>/s.exec(pages.get("/docs/webhooks")?.body ?? "") ?? [];
    assert.deepEqual(
      [...menu.matchAll(/href="\/docs\/([^"]*)"/g)].map(([, name]) => name),
      ofDevelopers,
    );
  });

  test("pages have no inline script or style, and load nothing from elsewhere", async () => {
    for (const [address, { body, links }] of pages) {
      assert.doesNotMatch(body, /<script[^>]*>[^<]|<style|<iframe| style="| on[a-z]+="/i, address);
      const loaded = [...body.matchAll(/<(?:img|link|script)[^>]* (?:src|href)="([^"]*)"/g)].map(
        ([, link = ""]) => link,
      );
      for (const link of loaded) assert.match(link, /^(\/docs\/|\/assets\/docs\/|data:,)/, address);
      for (const link of links)
        assert.match(link, /^(#|\/docs|\/assets\/docs\/|\/api\/v1\/openapi\.json|https?:\/\/|data:,)/, link);
    }
    const { headers } = await app.inject("/docs/webhooks");
    assert.equal(
      headers["content-security-policy"],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  test("every link leads to an existing page and heading", () => {
    for (const [address, { links }] of pages) {
      for (const link of links) {
        const [path = "", anchor] = link.split("#");
        if (/^(https?:|data:)/.test(link) || anchor === undefined) continue;
        const target = pages.get(path === "" ? address : path);
        assert.ok(target?.anchors.has(anchor), `${address}: ${link}`);
      }
    }
  });

  test("anchors are unique, and there is one first-level heading", () => {
    for (const [address, { body, anchors }] of pages) {
      assert.equal([...body.matchAll(/ id="/g)].length, anchors.size, address);
      // Scalar draws the API reference's headings in the browser.
      assert.equal([...body.matchAll(/<h1/g)].length, address === "/docs/api" ? 0 : 1, address);
    }
  });

  test("images and samples are served with their types, and other files are not served", async () => {
    const typeOf = async (address: string) => (await app.inject(address)).headers["content-type"];
    assert.equal(await typeOf("/docs/images/widget.png"), "image/png");
    assert.equal(await typeOf("/docs/samples/webhooks/receiver.php"), "text/plain; charset=utf-8");
    assert.equal(await typeOf("/docs/samples/grafana/bookflow-dashboard.json"), "application/json; charset=utf-8");
    for (const address of [
      "/docs/nothing",
      "/docs/webhooks.md",
      "/docs/files/package.json",
      "/docs/..%2Fpackage.json",
      "/docs/files/..%2f..%2fetc%2fpasswd",
      "/docs/constructor",
    ]) {
      const response = await app.inject(address);
      assert.equal(response.statusCode, 404, address);
      assert.match(response.body, /Page not found/);
    }
    assert.equal((await app.inject("/docs/webhooks/")).statusCode, 200);
  });
});

describe("the search", () => {
  const open = async () => {
    const passages = await app.inject("/docs/passages.json");
    assert.equal(passages.headers["content-type"], "application/json; charset=utf-8");
    const search = openSearch(passages.json());
    return (query: string) => search(query).map(({ address }) => address);
  };

  test("finds a heading, the start of a word and a word with a typo", async () => {
    const wanted = "/docs/webhooks#verifying-the-signature";
    const search = await open();
    assert.equal(search("verifying the signature")[0], wanted);
    assert.ok(search("signatu").includes(wanted));
    assert.ok(search("verifing signature").includes(wanted));
    assert.deepEqual(search("zzqqxx"), []);
  });

  test("links to existing pages and headings", async () => {
    const search = await open();
    for (const query of ["webhook", "API key", "backup", "consent", "visit"]) {
      const links = search(query);
      assert.ok(links.length > 0, query);
      for (const link of links) {
        const [path = "", anchor = ""] = link.split("#");
        assert.ok(pages.get(path)?.anchors.has(anchor), link);
      }
    }
  });

  test("is not done on the server", async () => {
    assert.equal((await app.inject("/docs/search?q=s")).statusCode, 404);
  });
});

test("every relative link in a Markdown file leads to an existing file and heading", () => {
  const files = globSync(["*.md", "docs/**/*.md", "sdk/*.md"], { cwd: ROOT }).map((path) => path.replaceAll("\\", "/"));
  const read = (file: string) => readFileSync(`${ROOT}/${file}`, "utf8");
  for (const file of files) {
    renderMarkdown(read(file), (href) => {
      const [path = "", anchor] = href.split("#");
      if (/^https?:/.test(href)) return href;
      const target = path === "" ? file : posix.join(posix.dirname(file), path);
      assert.ok(existsSync(`${ROOT}/${target}`), `${file}: ${href}`);
      if (anchor !== undefined) {
        const page = renderMarkdown(read(target), () => null);
        assert.ok(page.body.toString().includes(` id="${anchor}"`), `${file}: ${href}`);
      }
      return href;
    });
  }
});

test("every file and folder named in ARCHITECTURE and CONTRIBUTING exists", () => {
  const folders = ["", "src/server/", "src/dashboard/", "src/server/webhooks/", "src/server/analytics/"];
  for (const file of ["ARCHITECTURE.md", "CONTRIBUTING.md"]) {
    const text = readFileSync(`${ROOT}/${file}`, "utf8");
    const named = [...text.matchAll(/`([\w./-]+\/(?:[\w.-]+\.(?:tsx?|md|sql))?)`/g)].map(([, path = ""]) => path);
    assert.ok(named.length > 20, file);
    for (const path of named)
      assert.ok(
        folders.some((folder) => existsSync(ROOT + folder + path)),
        `${file}: ${path}`,
      );
  }
});

describe("Markdown", () => {
  const render = (text: string) => renderMarkdown(text, (href) => (href.startsWith("https:") ? href : null));

  test("markup in a document is shown as text", () => {
    const hostile = '<script>alert(1)</script> <img src=x onerror="alert(1)"> <b>';
    const page = render(
      `# ${hostile}\n\n${hostile}\n\n<div onclick="x">\n\n- ${hostile}\n\n| ${hostile} |\n|---|\n| ${hostile} |\n\n\`\`\`html\n${hostile}\n\`\`\`\n\n[${hostile}](javascript:alert) ![${hostile}](data:x)\n\n<details><summary><b>x</summary>\n`,
    ).body.toString();
    assert.doesNotMatch(page, /<script|<img|<b>|<div onclick|href="javascript|src="data/i);
    for (const [tag] of page.matchAll(/<[^>]*>/g))
      assert.match(tag, /^<\/?[a-z][a-z0-9]*(?: [a-z-]+="[^"<>]*")*>$/, tag);
  });

  test("headings get GitHub's anchors, and repeated headings get unique ones", () => {
    const { title, headings } = render("# The `id`, and more\n## Where it is: a place_holder\n## Sub\n### Sub\n");
    assert.equal(title, "The id, and more");
    assert.deepEqual(
      headings.map(({ depth, anchor }) => [depth, anchor]),
      [
        [2, "where-it-is-a-place_holder"],
        [2, "sub"],
        [3, "sub-1"],
      ],
    );
  });

  test("comments are left out, folded sections stay folded, and broken links become text", () => {
    const text = render(
      "# A\n\n<!-- note -->\n\n<details><summary>More</summary>\n\nx\n\n</details>\n\n[here](gone.md)\n",
    );
    assert.equal(
      text.body.toString().replaceAll("\n", ""),
      '<h1 id="a">A</h1><details class="more"><summary>More</summary><p>x</p></details><p>here</p>',
    );
  });
});
