import assert from "node:assert/strict";
import { test } from "node:test";
import { toInstall } from "./platforms.ts";

const LOADER = '<script async src="https://book.example/loader.js"></script>';
const WIDGET = {
  id: "w_1",
  pageUrl: "https://book.example/w/w_1",
  snippet: `${LOADER}\n<svc-booking widget="w_1"></svc-booking>`,
};

test("where the first line of the snippet is the loader, every page gets that line", () => {
  for (const mode of ["inline", "popup"] as const) {
    const { snippet, everyPage } = toInstall(WIDGET, "html", mode);
    assert.match(snippet.split("\n")[0] ?? "", /^<script async src="[^"]+loader\.js"( data-widget="w_1")?><\/script>$/);
    assert.deepEqual(everyPage, { text: "add the first line to every page of your site." });
  }
});

test("pages without the floating button get the plain loader", () => {
  const expected = { text: "add this line to every page without the button:", code: LOADER };
  assert.deepEqual(toInstall(WIDGET, "html", "float").everyPage, expected);
  assert.deepEqual(toInstall(WIDGET, "wix", "inline").everyPage, expected, "Wix shows the button instead");
});

test("in Next.js the loader belongs in the root layout, and the floating button with it", () => {
  const { everyPage } = toInstall(WIDGET, "nextjs", "inline");
  assert.deepEqual(everyPage, {
    text: "add this to your root layout:",
    code: '<Script src="https://book.example/loader.js" />',
  });
  assert.equal(toInstall(WIDGET, "nextjs", "float").everyPage.code, undefined);
});
