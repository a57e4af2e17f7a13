import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FrameContext } from "#contract/widgets/frame-messages.ts";
import { parseMessage } from "./bridge.ts";
import { parseContext, parseTheme, parseWishes } from "./context.ts";

const toFragment = (context: FrameContext) => `#${encodeURIComponent(JSON.stringify(context))}`;

test("everything the loader says is received", () => {
  const context = {
    frame: "f1",
    hostOrigin: "https://www.lindenhof.example",
    mode: "popup" as const,
    locale: "de-AT",
    service: "consultation",
    prefill: { name: "Mära Quell", email: "mara@example.com", phone: "+49 30", notes: "a\nb" },
    theme: { accent: "#0a7a55", mode: "dark" as const, radius: 4 },
    font: '"Source Sans 3", -apple-system, sans-serif',
    attribution: { utmSource: "google", gclid: "X", touches: 2, firstSeenAt: "2026-10-30T17:12:08.000Z" },
  };
  assert.deepEqual(parseContext(toFragment(context)), context);
});

test("the fbc of the longest fbclid is received", () => {
  const fbclid = "f".repeat(300);
  const attribution = { fbclid, fbc: `fb.1.1761989400000.${fbclid}` };
  assert.deepEqual(parseContext(toFragment({ mode: "inline", theme: {}, attribution })).attribution, attribution);
});

describe("an invalid fragment leaves the page with its defaults", () => {
  for (const fragment of ["", "#", "#section", "#%E0%A4%A", "#null", "#[]", "#1", `#${"x".repeat(40_000)}`])
    test(fragment.slice(0, 20), () => {
      const { mode: _mode, theme: _theme, ...rest } = parseContext(fragment);
      assert.deepEqual(rest, {});
    });
});

test("values of the wrong type are dropped, and the rest is used", () => {
  const hostile = {
    frame: { toString: "x" },
    hostOrigin: "javascript:alert(1)",
    mode: "fullscreen",
    locale: "<b>",
    service: 7,
    prefill: { name: ["x"], email: "a".repeat(501), phone: null, notes: "fine", __proto__: { role: "x" } },
    theme: { accent: "red;background:url(//evil)", mode: "pink", radius: "4px" },
    font: "Arial; background: url(//evil)",
    attribution: { utmSource: "s".repeat(321), gclid: 5, touches: -1, firstSeenAt: "soon", channel: "Direct" },
  };
  assert.deepEqual(parseContext(`#${encodeURIComponent(JSON.stringify(hostile))}`), {
    mode: "inline",
    theme: {},
    prefill: { notes: "fine" },
    attribution: {},
  });
});

test("the host page's origin must be exactly an origin", () => {
  const originOf = (hostOrigin: string) => parseContext(encodeURIComponent(JSON.stringify({ hostOrigin }))).hostOrigin;
  assert.equal(originOf("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
  for (const wrong of ["*", "null", "https://x.example/", "https://x.example/path", "https://a@x.example", "file://"])
    assert.equal(originOf(wrong), undefined, wrong);
});

test("a theme is a colour, a mode and corners within limits", () => {
  assert.deepEqual(parseTheme({ accent: "#ABCDEF", radius: 900 }), { accent: "#abcdef", radius: 32 });
  assert.deepEqual(parseTheme({ radius: Number.NaN, mode: "auto" }), { mode: "auto" });
  assert.deepEqual(parseTheme("dark"), {});
});

test("later changes affect only what they name", () => {
  assert.deepEqual(parseWishes({ service: "x", hostOrigin: "https://evil.example" }), { service: "x" });
  assert.deepEqual(parseWishes({ prefill: { name: "A" } }), { prefill: { name: "A" } });
});

test("a message counts only with our mark and this frame's name", () => {
  const message = { svc: 1, frame: "f1", theme: { mode: "dark" }, service: "s", hostOrigin: "https://evil.example" };
  assert.deepEqual(parseMessage(message, "f1"), { theme: { mode: "dark" }, service: "s" });
  for (const other of [null, "x", { ...message, svc: 2 }, { ...message, frame: "f2" }])
    assert.equal(parseMessage(other, "f1"), null);
});
