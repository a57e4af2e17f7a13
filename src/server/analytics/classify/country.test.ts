import assert from "node:assert/strict";
import { test } from "node:test";
import { createFindCountry, parseCountry } from "./country.ts";

const byAddress = createFindCountry({ countryHeader: null });
const find = (ip: string) => byAddress({ ip, headers: {} });

for (const [ip, country] of [
  ["193.99.144.80", "DE"],
  ["212.58.246.90", "GB"],
  ["133.11.0.1", "JP"],
  ["200.147.3.157", "BR"],
  ["::ffff:193.99.144.80", "DE"],
  ["2a02:8109:9a40:1111::1", "DE"],
] as const)
  test(`the address ${ip} is in ${country}`, () => assert.equal(find(ip), country));

for (const ip of [
  ...[
    "127.0.0.1",
    "10.1.2.3",
    "192.168.0.1",
    "169.254.1.1",
    "0.0.0.0",
    "::1",
    "fe80::1%eth0",
    "fd00::1",
    "::",
    "172.16.5.5",
    "203.0.113.77",
    "2001:db8::1",
  ],
  ...["", "unknown", "193.99.144.80:1234", "[2a02::1]", "999.1.1.1", "_hidden", "193.99.144.80, 10.0.0.1"],
])
  test(`the address ${JSON.stringify(ip)} is in no country`, () => assert.equal(find(ip), ""));

for (const [sent, country] of [
  ["DE", "DE"],
  [" de ", "DE"],
  ["XX", ""],
  ["T1", ""],
  ["ZZ", ""],
  ["zz", ""],
  ["QQ", ""],
  ["XA", ""],
  ["XK", "XK"],
  ["", ""],
  ["DEU", ""],
  ["D", ""],
  ["D\u0000", ""],
  ["ÄÖ", ""],
  ["DE, FR", ""],
] as const)
  test(`a proxy that says ${JSON.stringify(sent)} means ${country || "no country"}`, () =>
    assert.equal(parseCountry(sent), country));

test("with COUNTRY_HEADER only the header decides, whatever the address", () => {
  const byHeader = createFindCountry({ countryHeader: "cf-ipcountry" });
  assert.equal(byHeader({ ip: "193.99.144.80", headers: { "cf-ipcountry": "FR" } }), "FR");
  assert.equal(byHeader({ ip: "193.99.144.80", headers: { "cf-ipcountry": "T1" } }), "");
  assert.equal(byHeader({ ip: "193.99.144.80", headers: {} }), "");
});
