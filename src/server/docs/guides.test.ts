import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createTestApp } from "../../../test/support/app.ts";
import { renderMarkdown } from "./markdown.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const { app } = await createTestApp();

type Page = { readonly body: string; readonly links: readonly string[]; readonly anchors: ReadonlySet<string> };

/** Every page that a reader can get to from /docs, by address. */
const pages = await walk("/docs");

async function walk(start: string): Promise<Map<string, Page>> {
  const found = new Map<string, Page>();
  const waiting = [start];
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (found.has(address)) continue;
    const answer = await app.inject(address);
    assert.equal(answer.statusCode, 200, address);
    if (!String(answer.headers["content-type"]).startsWith("text/html")) continue;
    const { body } = answer;
    const links = [...body.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);
    const anchors = new Set([...body.matchAll(/ id="([^"]*)"/g)].map(([, anchor = ""]) => anchor));
    found.set(address, { body, links, anchors });
    waiting.push(...links.filter((link) => link.startsWith("/docs")).map((link) => link.split("#")[0] ?? ""));
  }
  return found;
}

describe("the documents at /docs", () => {
  test("every Markdown file of docs/ is served, and can be reached from the first page", () => {
    const files = globSync("docs/**/*.md", { cwd: ROOT }).map((path) => path.replaceAll("\\", "/"));
    assert.ok(files.length > 15);
    for (const file of files) assert.ok(pages.has(`/${file.replace(/\.md$/, "")}`), file);
  });

  test("whoever owns a page, pulls bookings, receives webhooks or runs the service finds the guide with one click", () => {
    const [, cards = ""] = /<main(.*)<\/main>/s.exec(pages.get("/docs")?.body ?? "") ?? [];
    for (const name of ["quick-start", "embedding", "read-api", "api", "webhooks", "client-library", "operating"])
      assert.match(cards, new RegExp(`<li><a href="/docs/${name}">[^<]+</a><p>`), name);
  });

  test("pages hold no script, no inline style and nothing from elsewhere", async () => {
    for (const [address, { body, links }] of pages) {
      assert.doesNotMatch(body, /<script|<style|<iframe| style="| on[a-z]+="/i, address);
      const loaded = [...body.matchAll(/<(?:img|link)[^>]* (?:src|href)="([^"]*)"/g)].map(([, link = ""]) => link);
      for (const link of loaded) assert.match(link, /^(\/docs\/|data:,)/, address);
      for (const link of links) assert.match(link, /^(#|\/docs|\/api\/v1\/openapi\.json|https?:\/\/|data:,)/, link);
    }
    const { headers } = await app.inject("/docs/webhooks");
    assert.equal(
      headers["content-security-policy"],
      "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  test("every link leads to a page that is there, and to a heading on it", () => {
    for (const [address, { links }] of pages) {
      for (const link of links) {
        const [path = "", anchor] = link.split("#");
        if (/^(https?:|data:)/.test(link) || anchor === undefined) continue;
        const target = pages.get(path === "" ? address : path);
        assert.ok(target?.anchors.has(anchor), `${address}: ${link}`);
      }
    }
  });

  test("anchors are unique, and there is one heading of the first level", () => {
    for (const [address, { body, anchors }] of pages) {
      assert.equal([...body.matchAll(/ id="/g)].length, anchors.size, address);
      assert.equal([...body.matchAll(/<h1/g)].length, 1, address);
    }
  });

  test("images and samples are served with their types, and what is not a document is not", async () => {
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
      const answer = await app.inject(address);
      assert.equal(answer.statusCode, 404, address);
      assert.match(answer.body, /There is no such document/);
    }
    assert.equal((await app.inject("/docs/webhooks/")).statusCode, 200);
  });
});

test("every relative link of a Markdown file leads to a file of the repository, and to a heading of it", () => {
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

describe("Markdown", () => {
  const render = (text: string) => renderMarkdown(text, (href) => (href.startsWith("https:") ? href : null));

  test("markup in a document is shown, not obeyed", () => {
    const hostile = '<script>alert(1)</script> <img src=x onerror="alert(1)"> <b>';
    const page = render(
      `# ${hostile}\n\n${hostile}\n\n<div onclick="x">\n\n- ${hostile}\n\n| ${hostile} |\n|---|\n| ${hostile} |\n\n\`\`\`html\n${hostile}\n\`\`\`\n\n[${hostile}](javascript:alert) ![${hostile}](data:x)\n\n<details><summary><b>x</summary>\n`,
    ).body.toString();
    assert.doesNotMatch(page, /<script|<img|<b>|<div onclick|href="javascript|src="data/i);
    for (const [tag] of page.matchAll(/<[^>]*>/g))
      assert.match(tag, /^<\/?[a-z][a-z0-9]*(?: [a-z-]+="[^"<>]*")*>$/, tag);
  });

  test("headings get GitHub's anchors, and a second one of a name another", () => {
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

  test("a comment is left out, something folded stays folded, and a link that leads nowhere is text", () => {
    const text = render(
      "# A\n\n<!-- note -->\n\n<details><summary>More</summary>\n\nx\n\n</details>\n\n[here](gone.md)\n",
    );
    assert.equal(
      text.body.toString().replaceAll("\n", ""),
      '<h1 id="a">A</h1><details class="more"><summary>More</summary><p>x</p></details><p>here</p>',
    );
  });
});
