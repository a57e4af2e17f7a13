import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Cidr, parseCidr } from "../../sending/address-rules.ts";
import type { HostReply } from "../../sending/resolve-host.ts";
import { checkEndpointUrl, type UrlVerdict } from "./url-rules.ts";

const NAMES: Record<string, HostReply> = {
  "example.com": { kind: "found", addresses: ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"] },
  "xn--bcher-kva.example": { kind: "found", addresses: ["93.184.215.14"] },
  "internal.example": { kind: "found", addresses: ["10.0.0.7"] },
  "mixed.example": { kind: "found", addresses: ["93.184.215.14", "169.254.169.254"] },
  "mapped.example": { kind: "found", addresses: ["::ffff:127.0.0.1"] },
  "metadata.google.internal": { kind: "found", addresses: ["169.254.169.254"] },
  localhost: { kind: "found", addresses: ["127.0.0.1", "::1"] },
  "receiver.lan": { kind: "found", addresses: ["10.20.0.5"] },
  "half.lan": { kind: "found", addresses: ["10.20.0.5", "10.30.0.5"] },
  "away.example": { kind: "unavailable" },
};

function check(text: string, ...allow: string[]): Promise<UrlVerdict> {
  return checkEndpointUrl(
    {
      resolve: async (host) => NAMES[host] ?? { kind: "not_found" },
      allow: allow.map((cidr): Cidr => parseCidr(cidr) ?? assert.fail(cidr)),
      nat64: [],
    },
    text,
  );
}

async function reasonOf(text: string, ...allow: string[]): Promise<string> {
  const verdict = await check(text, ...allow);
  return verdict.kind === "refused" ? verdict.reason : `accepted ${verdict.url}`;
}

test("a public https address is accepted in its normalised form", async () => {
  const table: [text: string, url: string][] = [
    ["https://example.com/hooks", "https://example.com/hooks"],
    ["  https://example.com/hooks\n", "https://example.com/hooks"],
    ["HTTPS://EXAMPLE.com:443/Hooks?Sig=a%2Fb&x=1", "https://example.com/Hooks?Sig=a%2Fb&x=1"],
    ["https://example.com.", "https://example.com/"],
    ["https://example.com:8443/a b".replace(" ", "%20"), "https://example.com:8443/a%20b"],
    ["https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"],
    ["https://8.8.8.8/hooks", "https://8.8.8.8/hooks"],
    ["https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"],
  ];
  for (const [text, url] of table) assert.deepEqual(await check(text), { kind: "accepted", url }, text);
});

test("an invalid URL is refused with a clear reason", async () => {
  const full = "The URL must be a full address, for example https://example.com/hooks.";
  const table: [text: string, reason: string][] = [
    ["", full],
    ["example.com/hooks", full],
    ["https://", full],
    ["https:/example.com", full],
    ["https://exa mple.com/", full],
    ["https://example.com/\thooks", full],
    ["https://example.com/\u0000", full],
    ["javascript:alert(1)", full],
    ["ftp://example.com/", "The URL must start with https://."],
    ["file:///etc/passwd", "The URL must start with https://."],
    ["https://user@example.com/", "The URL must not contain a user name or password."],
    ["https://user:pass@example.com/", "The URL must not contain a user name or password."],
    ["https://example.com@127.0.0.1/", "The URL must not contain a user name or password."],
    ["https://hooks.slack.com/…CRET", "The URL is shortened (…). Enter the full URL."],
    ["https://hooks.slack.com/%e2%80%a6CRET", "The URL is shortened (…). Enter the full URL."],
    ["https://hooks.slack.com/services/T0…", "The URL is shortened (…). Enter the full URL."],
    ["https://example.com/#top", "The URL must not contain a fragment (the part after #)."],
    ["https://example.com/#", "The URL must not contain a fragment (the part after #)."],
    ["https://example..com/", "The host name of the URL is not valid."],
    ["https://example.com../", "The host name of the URL is not valid."],
    ["https://example.com:0/", "The port of the URL must not be 0."],
    [`https://example.com/${"a".repeat(2_029)}`, "The URL must not be longer than 2048 characters."],
    [`https://example.com/${"ü".repeat(1_000)}`, "The URL must not be longer than 2048 characters."],
    [
      "https://nowhere.example/",
      "nowhere.example can't be found on the internet. Check the spelling. If the server is in your own network, ask the person who runs Bookflow to allow it (setting WEBHOOK_ALLOW_CIDRS).",
    ],
    ["https://away.example/", "The host name away.example could not be looked up just now. Try again in a moment."],
    [
      "http://example.com/",
      "The URL must start with https://. Only servers in your own network may use http://, and only if the person who runs Bookflow allows it.",
    ],
  ];
  for (const [text, reason] of table) assert.equal(await reasonOf(text), reason, text);
  assert.equal((await check(`https://example.com/${"a".repeat(2_028)}`)).kind, "accepted");
});

test("every spelling of an internal address is refused", async () => {
  const urls = [
    "https://127.0.0.1/",
    "https://127.0.0.1./",
    "https://127.0.0.1../",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.0.0.1:8080/",
    "https://①②⑦.⓪.⓪.①/",
    "https://0/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://168.63.129.16/",
    "https://192.168.1.1/",
    "https://[::]/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[0:0:0:0:0:ffff:a9fe:a9fe]/",
    "https://[64:ff9b::127.0.0.1]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[2002:7f00:1::]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://internal.example/",
    "https://internal.example./",
    "https://mixed.example/",
    "https://mapped.example/",
    "https://metadata.google.internal/computeMetadata/v1/",
  ];
  for (const url of urls)
    assert.match(
      await reasonOf(url),
      /ask the person who runs Bookflow to allow it \(setting WEBHOOK_ALLOW_CIDRS\)\.$/,
      url,
    );
});

test("a refusal names the kind of network for an address, but for a name not even whether it exists", async () => {
  assert.deepEqual(await check("https://internal.example/"), {
    kind: "refused",
    reason:
      "internal.example can't be found on the internet. Check the spelling. If the server is in your own network, ask the person who runs Bookflow to allow it (setting WEBHOOK_ALLOW_CIDRS).",
  });
  assert.deepEqual(await check("https://[::ffff:169.254.169.254]/"), {
    kind: "refused",
    reason:
      "This address belongs to the link-local network, where cloud metadata lives (169.254.0.0/16), which can't be reached from the internet. If the server is in your own network, ask the person who runs Bookflow to allow it (setting WEBHOOK_ALLOW_CIDRS).",
  });
});

test("an allow-listed target is accepted, even over plain http, if all its addresses are allowed", async () => {
  const allow = ["10.20.0.0/16", "127.0.0.1"];
  const table: [text: string, isAccepted: boolean][] = [
    ["http://10.20.0.5:8080/hooks", true],
    ["https://10.20.0.5/hooks", true],
    ["http://receiver.lan/hooks", true],
    ["http://127.0.0.1:3000/", true],
    ["http://half.lan/hooks", false],
    ["https://half.lan/hooks", false],
    ["http://localhost/", false],
    ["http://example.com/", false],
    ["https://10.21.0.1/", false],
  ];
  for (const [text, isAccepted] of table) {
    assert.equal((await check(text, ...allow)).kind, isAccepted ? "accepted" : "refused", text);
  }
});

test("an accepted URL is accepted again unchanged, whatever was typed", async () => {
  const parts = fc.constantFrom(
    "https://",
    "http://",
    "example.com",
    "127.0.0.1",
    ".",
    ":",
    "@",
    "/",
    "%",
    "#",
    "?",
    "é",
    "\\",
    "[",
    "]",
    " ",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(parts, fc.string({ maxLength: 3 })), { maxLength: 8 }), async (pieces) => {
      const verdict = await check(`https://example.com${pieces.join("")}`);
      if (verdict.kind === "accepted") assert.deepEqual(await check(verdict.url), verdict);
    }),
    { numRuns: 500 },
  );
});
