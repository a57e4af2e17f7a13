import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { type AddressVerdict, type Cidr, judgeAddress, parseAddress, parseCidr, permits } from "./address-rules.ts";

function cidrs(...texts: string[]): Cidr[] {
  return texts.map((text) => parseCidr(text) ?? assert.fail(`not a range: ${text}`));
}

/** On a network with the usual NAT64 prefix. */
function judge(address: string, ...allow: string[]): AddressVerdict {
  return judgeAddress(address, { allow: cidrs(...allow), nat64: cidrs("64:ff9b::/96") });
}

test("public internet addresses are allowed", () => {
  const addresses = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "::ffff:808:808",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:800::200e",
    "64:ff9b::8.8.8.8",
    "64:ff9b::5db8:d822",
  ];
  for (const address of addresses) assert.deepEqual(judge(address), { kind: "public" }, address);
});

test("private, loopback, link-local, metadata, shared, reserved and embedding ranges are refused, from first to last address", () => {
  const addresses = [
    ["0.0.0.0", "0.255.255.255"],
    ["10.0.0.0", "10.255.255.255"],
    ["100.64.0.0", "100.127.255.255"],
    ["127.0.0.0", "127.0.0.1", "127.255.255.255"],
    ["168.63.129.16"],
    ["169.254.0.0", "169.254.169.254", "169.254.255.255"],
    ["172.16.0.0", "172.31.255.255"],
    ["192.0.0.0", "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.88.99.0", "192.88.99.255"],
    ["192.168.0.0", "192.168.255.255"],
    ["198.18.0.0", "198.19.255.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255"],
    ["224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"],
    ["::", "::1", "::127.0.0.1", "::7f00:1"],
    ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "0:0:0:0:0:ffff:c0a8:1"],
    ["::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1", "64:ff9b:1::808:808"],
    ["100::", "100::ffff:ffff:ffff:ffff"],
    ["2001::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:20::1"],
    ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["2002::", "2002:7f00:1::", "2002:a00:1::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["5f00::", "5f00:ffff::", "4000::1", "1::1", "e000::1"],
    ["fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["fe80::", "fe80::1", "febf:ffff::1", "fec0::1", "feff::1", "ff00::", "ff02::1"],
  ].flat();
  for (const address of addresses) assert.equal(judge(address).kind, "blocked", address);
});

test("a refusal names the range and its purpose", () => {
  assert.deepEqual(judge("169.254.169.254"), {
    kind: "blocked",
    range: "the link-local network, where cloud metadata lives (169.254.0.0/16)",
  });
  assert.deepEqual(judge("::ffff:10.1.2.3"), { kind: "blocked", range: "a private network (10.0.0.0/8)" });
  assert.deepEqual(judge("64:ff9b::10.1.2.3"), { kind: "blocked", range: "a private network (10.0.0.0/8)" });
  assert.deepEqual(judge("fd00::1"), { kind: "blocked", range: "a private network (fc00::/7)" });
  assert.deepEqual(judge("4000::1"), { kind: "blocked", range: "a reserved IPv6 range" });
});

test("an address under a NAT64 prefix of the network is judged by the IPv4 address inside it", () => {
  // The examples of RFC 6052, section 2.4, for 192.0.2.33; here with a public and a private address.
  // biome-ignore format: one prefix a line
  const cases: [prefix: string, ofPublic: string, ofPrivate: string][] = [
    ["2a00:db8::/32",              "2a00:db8:808:808::",              "2a00:db8:a00:1::"],
    ["2a00:db8:100::/40",          "2a00:db8:108:808:8::",            "2a00:db8:10a:0:1::"],
    ["2a00:db8:122::/48",          "2a00:db8:122:808:8:800::",        "2a00:db8:122:a00:0:100::"],
    ["2a00:db8:122:300::/56",      "2a00:db8:122:308:8:808::",        "2a00:db8:122:30a:0:1::"],
    ["2a00:db8:122:344::/64",      "2a00:db8:122:344:8:808:800::",    "2a00:db8:122:344:a:0:100::"],
    ["2a00:db8:122:344::/96",      "2a00:db8:122:344::8.8.8.8",       "2a00:db8:122:344::10.0.0.1"],
    ["fd00:64::/96",               "fd00:64::8.8.8.8",                "fd00:64::10.0.0.1"],
    ["64:ff9b:1::/48",             "64:ff9b:1:808:8:800::",           "64:ff9b:1:a00:0:100::"],
    ["64:ff9b:1:abcd::/96",        "64:ff9b:1:abcd::8.8.8.8",         "64:ff9b:1:abcd::10.0.0.1"],
  ];
  const toPrivate = { kind: "blocked", range: "a private network (10.0.0.0/8)" };
  for (const [prefix, ofPublic, ofPrivate] of cases) {
    const rules = { allow: [], nat64: cidrs("64:ff9b::/96", prefix) };
    assert.deepEqual(judgeAddress(ofPublic, rules), { kind: "public" }, prefix);
    assert.deepEqual(judgeAddress(ofPrivate, rules), toPrivate, prefix);
    const allowed = { ...rules, allow: cidrs("10.0.0.0/8") };
    assert.deepEqual(judgeAddress(ofPrivate, allowed), { kind: "allowed" }, prefix);
  }
});

test("without its prefix in the settings, a NAT64 address outside global unicast is refused", () => {
  for (const [address, range] of [
    ["64:ff9b::8.8.8.8", "the NAT64 range (64:ff9b::/96)"],
    ["64:ff9b:1::8.8.8.8", "the local NAT64 range (64:ff9b:1::/48)"],
    ["64:ff9b:1:808:8:800::", "the local NAT64 range (64:ff9b:1::/48)"],
    ["fd00:64::8.8.8.8", "a private network (fc00::/7)"],
  ] as const)
    assert.deepEqual(judgeAddress(address, { allow: [], nat64: [] }), { kind: "blocked", range }, address);
});

test("text that isn't a plain address is refused", () => {
  for (const text of [
    "",
    "localhost",
    "127.1",
    "0177.0.0.1",
    "fe80::1%eth0",
    "::1%lo",
    "[::1]",
    "1.2.3.4:80",
    " 8.8.8.8",
  ]) {
    assert.deepEqual(judge(text, "0.0.0.0/0", "::/0"), { kind: "blocked", range: "an unknown format" }, text);
  }
});

test("an allow-listed range is allowed in every spelling of its addresses, and its neighbours are refused", () => {
  const allow = ["10.20.0.0/16", "127.0.0.1", "fd00:1::/32"];
  for (const address of [
    "10.20.0.0",
    "10.20.255.255",
    "::ffff:10.20.1.1",
    "127.0.0.1",
    "::ffff:7f00:1",
    "fd00:1::9",
    "64:ff9b::10.20.1.1",
  ]) {
    assert.deepEqual(judge(address, ...allow), { kind: "allowed" }, address);
  }
  for (const address of [
    "10.19.255.255",
    "10.21.0.0",
    "127.0.0.2",
    "::1",
    "fd00:2::1",
    "64:ff9b::10.21.1.1",
    "2002:a14:101::",
  ]) {
    assert.equal(judge(address, ...allow).kind, "blocked", address);
  }
});

test("plain http is allowed only for allow-listed addresses", () => {
  const table = {
    public: permits({ kind: "public" }, "http:"),
    publicByTls: permits({ kind: "public" }, "https:"),
    allowed: permits({ kind: "allowed" }, "http:"),
    allowedByTls: permits({ kind: "allowed" }, "https:"),
    blocked: permits({ kind: "blocked", range: "a private network" }, "http:"),
    blockedByTls: permits({ kind: "blocked", range: "a private network" }, "https:"),
  };
  assert.deepEqual(table, {
    public: false,
    publicByTls: true,
    allowed: true,
    allowedByTls: true,
    blocked: false,
    blockedByTls: false,
  });
});

test("a range is one address, or an address, a slash and a valid prefix", () => {
  for (const text of [
    "10.0.0.0/8",
    " 10.0.0.0/8 ",
    "127.0.0.1",
    "0.0.0.0/0",
    "::1",
    "::/0",
    "fd00::/8",
    "10.0.0.1/32",
  ]) {
    assert.notEqual(parseCidr(text), null, text);
  }
  for (const text of [
    "",
    "/8",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10/8",
    "10.0.0.0/8/8",
    "10.0.0.0/8.0",
    "host/8",
  ]) {
    assert.equal(parseCidr(text), null, text);
  }
});

test("every spelling of an address has the same bytes", () => {
  const spellings = [
    "2001:db8::ff00:42:8329",
    "2001:0db8:0000:0000:0000:ff00:0042:8329",
    "2001:DB8:0:0:0:FF00:42:8329",
  ];
  const bytes = Uint8Array.from([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0x42, 0x83, 0x29]);
  for (const spelling of spellings) assert.deepEqual(parseAddress(spelling), bytes, spelling);
  assert.deepEqual(parseAddress("1::"), Uint8Array.of(0, 1, ...new Array(14).fill(0)));
  assert.deepEqual(parseAddress("::1"), Uint8Array.of(...new Array(15).fill(0), 1));
  assert.deepEqual(parseAddress("1.2.3.4"), parseAddress("::ffff:1.2.3.4"));
});

test("for any address and any range, our arithmetic agrees with Node's", () => {
  const v4 = fc.ipV4();
  const v6 = fc.ipV6();
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(v4, v4, fc.integer({ min: 0, max: 32 }), fc.constant("ipv4" as const)),
        fc.tuple(v6, v6, fc.integer({ min: 0, max: 128 }), fc.constant("ipv6" as const)),
      ),
      fc.boolean(),
      ([address, network, prefix, family], isNear) => {
        const list = new BlockList();
        list.addSubnet(network, prefix, family);
        // Random addresses are rarely inside, so half of the cases use the network's own address.
        const asked = isNear ? network : address;
        const verdict = judge(asked, `${network}/${prefix}`);
        // BlockList also matches a mapped address against IPv4 rules; these cases can't be compared.
        if (family === "ipv6" && /^(::ffff:|64:ff9b::)/i.test(asked)) return;
        assert.equal(verdict.kind === "allowed", list.check(asked, family), `${asked} in ${network}/${prefix}`);
      },
    ),
    { numRuns: 1_000 },
  );
});
