import assert from "node:assert/strict";
import { test } from "node:test";
import { findSharedSite, toFlag, toKeyName } from "./dimension-words.ts";

test("pages of one site are shown without it, pages of several sites with it", () => {
  const pages = ["https://www.example.com/", "https://www.example.com/a/b", "https://www.example.com", "(not set)"];
  assert.equal(findSharedSite(pages), "https://www.example.com");
  assert.equal(findSharedSite([...pages, "https://example.org/"]), null);
  assert.equal(findSharedSite([...pages, "https://www.example.com.evil.example/"]), null);
  assert.equal(findSharedSite([]), null);
});

test("what is unknown is said in words, and a country has its flag", () => {
  assert.equal(toKeyName("campaign", "(not set)", new Map()), "No campaign");
  assert.equal(toKeyName("country", "(not set)", new Map()), "Unknown country");
  for (const typed of ["Germany", "de", "", "D1"]) assert.equal(toKeyName("country", typed, new Map()), typed);
  assert.equal(toFlag("DE"), "🇩🇪");
  assert.equal(toFlag("(not set)"), "");
});
