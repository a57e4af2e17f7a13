import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForeignJson, parseJsonText } from "./json-text.ts";

const NULL_CHARACTER = { fault: "it contains a null character (\\u0000)" };
const TOO_COMPLEX = { fault: "it is nested too deeply or has too many values" };
const TEXT = `\\"${"[,{".repeat(2_000)}\\\\`;
const INVALID = { fault: "it is not valid JSON" };

// biome-ignore format: one case a line
const CASES: [name: string, text: string, parsed: { value: unknown } | { fault: string }][] = [
  ["a value of each kind is unchanged", '[1,-0.5,true,null,"é🦷",{"a":{}}]', { value: [1, -0.5, true, null, "é🦷", { a: {} }] }],
  ["half a surrogate pair becomes U+FFFD", '"a\\ud800b"', { value: "a\uFFFDb" }],
  ["so does half a pair in a property name", '{"\\udfff":"\\udfff"}', { value: { "\uFFFD": "\uFFFD" } }],
  ["a whole pair stays", '"\\ud83e\\uddb7"', { value: "🦷" }],
  ["a null character is a fault", '["a\\u0000b"]', NULL_CHARACTER],
  ["so is a null character in a property name", '{"a":[{"\\u0000":1}]}', NULL_CHARACTER],
  ["other control characters are allowed", '"\\u0001\\u001f"', { value: "\u0001\u001f" }],
  ["empty text is not JSON", "", INVALID],
  ["truncated JSON is not JSON", '{"a":', INVALID],
  ["JavaScript is not always JSON", "{a:1}", INVALID],
  ["eleven levels are too deep", "[".repeat(11) + "]".repeat(11), TOO_COMPLEX],
  ["so are a hundred thousand", "[".repeat(100_000) + "]".repeat(100_000), TOO_COMPLEX],
  ["so are objects in objects, even without an end", '{"a":'.repeat(11), TOO_COMPLEX],
  ["two thousand values are too many", `[${Array(2_000).fill("0").join()}]`, TOO_COMPLEX],
  ["fewer are not", `[${Array(1_999).fill("0").join()}]`, { value: Array(1_999).fill(0) }],
  ["so are two thousand fields", `{${Array.from({ length: 2_000 }, (_, n) => `"${n}":0`).join()}}`, TOO_COMPLEX],
  ["brackets, commas and quotes in a text are text", JSON.stringify(TEXT), { value: TEXT }],
  ["a text that doesn't end is not JSON", `"${"[".repeat(20)}\\"`, INVALID],
];

for (const [name, text, parsed] of CASES) {
  test(name, () => assert.deepEqual(parseJsonText(text), parsed));
}

test("a member called __proto__ is an ordinary member", () => {
  const parsed = parseJsonText('{"__proto__":{"isAdmin":true},"a\\ud800":1}') as { value: Record<string, unknown> };
  assert.deepEqual(Object.keys(parsed.value), ["__proto__", "a\uFFFD"]);
  assert.equal("isAdmin" in parsed.value, false);
});

test("text that PostgreSQL cannot store is removed or replaced in another system's JSON, in names too", () => {
  const text = '{"a\\u0000b":["\\u0000","x\\uD800y\\u0000z",{"\\udfff":1}],"pair":"\\ud83e\\uddb7","n":[1,null,true]}';
  const fitting = { ab: ["", "x\uFFFDyz", { "\uFFFD": 1 }], pair: "🦷", n: [1, null, true] };
  assert.deepEqual(parseForeignJson(text), fitting);
  assert.deepEqual(
    parseForeignJson('{"a":"\\\\u0000"}'),
    { a: "\\u0000" },
    "six letters that only look like an escape",
  );
  assert.throws(() => parseForeignJson("<html>"), SyntaxError);
});
