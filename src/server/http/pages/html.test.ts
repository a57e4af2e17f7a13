import assert from "node:assert/strict";
import { test } from "node:test";
import { type HtmlPart, html } from "./html.ts";

test("inserted values are text, in elements and in attributes", () => {
  const hostile = `"><script>alert('x')</script>&amp;`;
  assert.equal(
    html`<p title="${hostile}">${hostile}</p>`.toString(),
    '<p title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;">' +
      "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;</p>",
  );
});

test("markup built by the template is kept, even in lists; null gives nothing", () => {
  assert.equal(
    html`<ul>${[1, "<2>"].map((item) => html`<li>${item}</li>`)}</ul>${null}`.toString(),
    "<ul><li>1</li><li>&lt;2&gt;</li></ul>",
  );
});

test("no object from a parsed document passes as finished markup", () => {
  // Types don't exist at run time; a value of another shape must still come out as text.
  const forged = JSON.parse('{"markup": "<b>", "toString": null}') as HtmlPart;
  assert.throws(() => html`${forged}`);
  const plain = JSON.parse('{"markup": "<b>"}') as HtmlPart;
  assert.equal(html`${plain}`.toString(), "[object Object]");
});
