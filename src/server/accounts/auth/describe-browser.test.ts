import assert from "node:assert/strict";
import { test } from "node:test";
import { describeBrowser } from "./describe-browser.ts";

// biome-ignore format: one case a line
const CASES: [userAgent: string, words: string][] = [
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", "Edge on Windows"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "Chrome on Windows"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15", "Safari on macOS"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1", "Chrome on iOS"],
  ["Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/140.0 Mobile Safari/537.36", "Samsung Internet on Android"],
  ["curl/8.0 Linux", "Linux"],
  ["", "Unknown browser"],
  ["<script>alert(1)</script>", "Unknown browser"],
];
for (const [userAgent, words] of CASES)
  test(`${userAgent || "no user agent"} is described as ${words}, and always the same way`, () => {
    assert.equal(describeBrowser(userAgent), words);
    assert.equal(describeBrowser(words), words);
  });
