import assert from "node:assert/strict";
import { test } from "node:test";
import { CLICK_ID_NAMES } from "#contract/attribution.ts";
import { PAID_CLICK_IDS } from "../src/server/analytics/classify/source-tables.ts";
import { parseWishes } from "../src/widget/frame/host/context.ts";
import { readPageAttribution } from "../src/widget/frame/host/page-attribution.ts";
import { readAddress } from "../src/widget/loader/address.ts";

// Code in visitors' browsers has its own lists, because the contract's lists would bring its schemas along.

const toParameter = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const sent = Object.fromEntries(CLICK_ID_NAMES.map((name) => [name, `id-of-${name}`]));
const query = new URLSearchParams(Object.entries(sent).map(([name, id]) => [toParameter(name), id]));
const address = `https://site.example/lp?${query}`;

test("the loader reads every click id in the contract from a URL", () =>
  assert.deepEqual(readAddress(address).tags, sent));

test("the direct page reads every click id from its own URL, and none with a privacy signal", () => {
  const read = (isPrivate: boolean) => {
    const { landingPage: _, currentPage: __, ...ids } = readPageAttribution({ address, referrer: "", isPrivate });
    return ids;
  };
  assert.deepEqual(read(false), sent);
  assert.deepEqual(read(true), {});
});

test("the frame accepts every click id from the loader", () =>
  assert.deepEqual(parseWishes({ attribution: { ...sent, xclid: "unknown" } }).attribution, sent));

test("every click id except fbclid marks a paid click", () =>
  assert.deepEqual([...PAID_CLICK_IDS.flatMap(({ fields }) => fields), "fbclid"].sort(), [...CLICK_ID_NAMES].sort()));
