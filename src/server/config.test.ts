import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createCommandLine } from "../../test/support/app/cli.ts";
import { ConfigError, parseConfig, SETTINGS } from "./config.ts";

function faultsOf(environment: Record<string, string>): string[] {
  try {
    parseConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    const [heading, ...faults] = error.message.split("\n");
    assert.equal(heading, "Bookflow can't start. Fix these settings:");
    return faults;
  }
  return [];
}

test("without any variables every setting has its default", () => {
  assert.deepEqual(parseConfig({}), {
    port: 3000,
    host: "localhost",
    baseUrl: "http://localhost:3000",
    databaseUrl: null,
    databasePoolSize: 10,
    dataDir: "./data",
    role: "all",
    workerPort: 0,
    rateLimitApiPerMinute: 60_000,
    rateLimitEventsPerMinute: 3_000,
    rateLimitConfigPerMinute: 600,
    rateLimitWidgetConfigPerMinute: 6_000,
    rateLimitSlotsPerMinute: 600,
    rateLimitWidgetSlotsPerMinute: 6_000,
    rateLimitBookingsPerMinute: 20,
    rateLimitSchedulerPerMinute: 20,
    rateLimitWidgetBookingsPerMinute: 60,
    trustProxy: false,
    countryHeader: null,
    secretKey: null,
    signUp: "closed",
    defaultPlan: "business",
    maxOrganizationsPerPerson: 20,
    maxWidgets: 200,
    maxApiKeys: 50,
    maxConnections: 50,
    maxEndpoints: 20,
    maxInvitationsPerDay: 100,
    rateLimitSignInPerMinute: 30,
    smtpUrl: null,
    mailFrom: "Bookflow <bookflow@localhost>",
    oidcIssuer: null,
    oidcClientId: null,
    oidcClientSecret: null,
    oidcTrusted: "no",
    oidcTwoFactor: "ask",
    webhookRetrySchedule: [30, 60, 120, 240, 480, 960, 1920, 3600],
    webhookRetryJitter: 0.1,
    webhookTimeoutMs: 15_000,
    webhookAllowCidrs: [],
    nat64Prefixes: ["64:ff9b::/96"],
    docsUrl: "http://localhost:3000/docs",
    exportTo: null,
    logLevel: "info",
    logFormat: "auto",
    shutdownGraceMs: 10_000,
  });
});

test("an empty or blank variable counts as unset", () => {
  const blank = Object.fromEntries(Object.values(SETTINGS).map(({ name }, index) => [name, " \t".repeat(index % 3)]));
  assert.deepEqual(parseConfig(blank), parseConfig({}));
});

test("spaces around a value are ignored", () => {
  assert.equal(parseConfig({ PORT: " 8080 " }).port, 8080);
  assert.equal(parseConfig({ ROLE: "web\r" }).role, "web");
});

test("settings cannot be changed once they are read", () => {
  const config = parseConfig({});
  assert.throws(() => Object.assign(config, { port: 1 }), TypeError);
});

test("unknown variables are ignored", () => {
  assert.deepEqual(parseConfig({ port: "1", PORTS: "x", HOME: "/root" }), parseConfig({}));
});

describe("whole numbers", () => {
  const ranges: [key: keyof typeof SETTINGS, min: number, max: number][] = [
    ["port", 0, 65_535],
    ["databasePoolSize", 4, 200],
    ["rateLimitApiPerMinute", 0, 10_000_000],
    ["rateLimitEventsPerMinute", 0, 10_000_000],
    ["webhookTimeoutMs", 100, 60_000],
    ["shutdownGraceMs", 0, 600_000],
  ];
  for (const [key, min, max] of ranges) {
    const { name } = SETTINGS[key];
    test(`${name} accepts ${min} to ${max}`, () => {
      assert.deepEqual(
        [parseConfig({ [name]: String(min) })[key], parseConfig({ [name]: String(max) })[key]],
        [min, max],
      );
      const bad = [min - 1, max + 1, "1e3", "0x10", "1.5", "+5", "-0", "ten", "１０", "9".repeat(400), "5 5"];
      for (const value of bad) {
        assert.deepEqual(faultsOf({ [name]: String(value) }), [
          `${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(String(value))}`,
        ]);
      }
    });
  }
});

describe("choices", () => {
  const choices: [key: keyof typeof SETTINGS, choices: string[]][] = [
    ["role", ["all", "web", "worker"]],
    ["logLevel", ["debug", "info", "warn", "error", "silent"]],
  ];
  for (const [key, values] of choices) {
    const { name } = SETTINGS[key];
    test(`${name} is one of ${values.join(", ")}`, () => {
      for (const value of values) assert.equal(parseConfig({ [name]: value })[key], value);
      for (const value of ["ALL", "both", "constructor", "0"])
        assert.deepEqual(faultsOf({ [name]: value }), [
          `${name} must be one of ${values.join(", ")}, not ${JSON.stringify(value)}`,
        ]);
    });
  }
});

describe("BASE_URL", () => {
  const accepted: [given: string, taken: string][] = [
    ["https://book.example", "https://book.example"],
    ["https://book.example/", "https://book.example"],
    ["https://book.example//", "https://book.example"],
    ["HTTP://Book.Example:80/In/", "http://book.example/In"],
    ["https://bücher.example:8443", "https://xn--bcher-kva.example:8443"],
    ['https://book.example/"><script>', "https://book.example/%22%3E%3Cscript%3E"],
    ["http://[::1]:3000", "http://[::1]:3000"],
  ];
  for (const [given, taken] of accepted) {
    test(`${given} is read as ${taken}`, () => assert.equal(parseConfig({ BASE_URL: given }).baseUrl, taken));
  }
  test("follows the port when unset", () => {
    assert.equal(parseConfig({ PORT: "8080" }).baseUrl, "http://localhost:8080");
  });
  const refused: [given: string, shown: string][] = [
    ["book.example", "book.example"],
    ["//book.example", "//book.example"],
    ["ftp://book.example", "ftp://book.example"],
    ["https://", "https://"],
    ["https://book.example/?a=b", "https://book.example/?a=b"],
    ["https://book.example/#top", "https://book.example/#top"],
    ["https://mara:hunter2@book.example", "https://[secret]@book.example"],
  ];
  for (const [given, shown] of refused) {
    test(`${given} is refused`, () => {
      assert.deepEqual(faultsOf({ BASE_URL: given }), [
        `BASE_URL must be an address like http://… or https://…, without user name, query or fragment, not "${shown}"`,
      ]);
    });
  }
});

describe("DATABASE_URL", () => {
  const accepted = [
    "postgres://bookflow:p%40ss@db.example:5432/bookflow?sslmode=verify-full",
    "postgresql://localhost/bookflow",
    "postgres://bookflow:secret@/bookflow?host=/var/run/postgresql/",
    "postgres:///bookflow",
    "postgres://bookflow:secret@one:5432,two:5433/bookflow",
  ];
  for (const given of accepted) {
    test(`${given} is accepted unchanged`, () =>
      assert.equal(parseConfig({ DATABASE_URL: given, SECRET_KEY: "k".repeat(32) }).databaseUrl, given));
  }
  for (const given of [
    "mysql://root:hunter2@db/x",
    "hunter2",
    "postgres:hunter2",
    "postgres://u:hunter2@:x:/",
    "postgres://u:hunter2@one,two:x/",
  ]) {
    test(`${given} is refused and never shown`, () => {
      assert.deepEqual(faultsOf({ DATABASE_URL: given }), [
        "DATABASE_URL must be an address like postgres://… or postgresql://…",
      ]);
    });
  }
});

describe("the other settings", () => {
  const networks = "addresses like 10.0.0.0/8,fd00::/8";
  // biome-ignore format: one setting a line
  const cases: { key: keyof typeof SETTINGS; accepted: [given: string, taken: unknown][]; refused: string[]; fault: string }[] = [
    { key: "host", accepted: [["0.0.0.0", "0.0.0.0"], ["::", "::"]], refused: [], fault: "" },
    { key: "dataDir", accepted: [["/var/lib/my data", "/var/lib/my data"]], refused: [], fault: "" },
    { key: "docsUrl", accepted: [["https://docs.example/x/", "https://docs.example/x"]], refused: ["docs", "ftp://x"], fault: "must be an address like http://… or https://…, without user name, query or fragment" },
    { key: "trustProxy", accepted: [["0", false], ["1", 1], ["100", 100], ["10.0.0.0/8, ::1", ["10.0.0.0/8", "::1"]]], refused: ["101", "-1", "true", "10.0.0.0/33", "10.0.0.0/8,", "proxy"], fault: `must be a number of proxies from 0 to 100, or ${networks}` },
    { key: "countryHeader", accepted: [["CF-IPCountry", "cf-ipcountry"]], refused: ["a b", "x:y", "é"], fault: "must be the name of a header" },
    { key: "webhookRetrySchedule", accepted: [["5", [5]], ["0, 30,604800", [0, 30, 604_800]]], refused: ["5,", "1.5", "-1", "604801", "a", Array(21).fill("1").join(",")], fault: "must be 1 to 20 whole numbers from 0 to 604800, separated by commas" },
    { key: "webhookRetryJitter", accepted: [["0", 0], ["1", 1], [".5", 0.5], ["0.25", 0.25], ["1.0", 1]], refused: ["1.1", "-0.1", "10%", "1e-3", "."], fault: "must be from 0 to 1" },
    { key: "nat64Prefixes", accepted: [["64:ff9b::/96, 64:ff9b:1::/48", ["64:ff9b::/96", "64:ff9b:1::/48"]]], refused: ["64:ff9b::", "64:ff9b::/95", "64:ff9b::/128", "10.0.0.0/32", "x::/96"], fault: "must be IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, like 64:ff9b::/96" },
    { key: "webhookAllowCidrs", accepted: [["10.0.0.0/8, fd00::/8,127.0.0.1", ["10.0.0.0/8", "fd00::/8", "127.0.0.1"]]], refused: ["10.0.0/8", "10.0.0.0/33", "fd00::/129", "localhost", "10.0.0.0/8/8"], fault: `must be ${networks}` },
  ];
  for (const { key, accepted, refused, fault } of cases) {
    const { name } = SETTINGS[key];
    test(name, () => {
      for (const [given, taken] of accepted) assert.deepEqual(parseConfig({ [name]: given })[key], taken, given);
      for (const given of refused)
        assert.deepEqual(faultsOf({ [name]: given }), [`${name} ${fault}, not ${JSON.stringify(given)}`]);
    });
  }

  test("SECRET_KEY has at least 32 characters and is never shown", () => {
    assert.equal(parseConfig({ SECRET_KEY: "k".repeat(32) }).secretKey, "k".repeat(32));
    assert.deepEqual(faultsOf({ SECRET_KEY: "hunter2" }), ["SECRET_KEY must have at least 32 characters"]);
  });
});

test("DATABASE_URL requires SECRET_KEY: every process must read what another sealed", () => {
  const DATABASE_URL = "postgres://user:pass@db.example/bookflow";
  assert.deepEqual(faultsOf({ DATABASE_URL }), [
    "SECRET_KEY must be set when DATABASE_URL is set, and must be the same for every process",
  ]);
  assert.equal(parseConfig({ DATABASE_URL, SECRET_KEY: "k".repeat(32) }).databaseUrl, DATABASE_URL);
});

test("all errors come in one message, in the order of the settings", () => {
  const bad = {
    SHUTDOWN_GRACE_MS: "soon",
    PORT: "http",
    DATABASE_URL: "sqlite://hunter2",
    ROLE: "king",
    HOST: "0.0.0.0",
  };
  assert.deepEqual(faultsOf(bad), [
    'PORT must be a whole number from 0 to 65535, not "http"',
    "DATABASE_URL must be an address like postgres://… or postgresql://…",
    'ROLE must be one of all, web, worker, not "king"',
    'SHUTDOWN_GRACE_MS must be a whole number from 0 to 600000, not "soon"',
  ]);
});

test("an error stays on one line whatever the value contains", () => {
  assert.deepEqual(faultsOf({ ROLE: "a\nPORT is fine\u001b[0m" }), [
    'ROLE must be one of all, web, worker, not "a\\nPORT is fine\\u001b[0m"',
  ]);
});

describe("SMTP_URL", () => {
  for (const given of ["smtp://user:hunter2@mail.example:587", "smtps://mail.example"])
    test(`${given} is accepted unchanged`, () => assert.equal(parseConfig({ SMTP_URL: given }).smtpUrl, given));
  for (const given of ["hunter2@mail.example", "smtp://", "http://user:hunter2@mail.example"])
    test(`${given} is refused and never shown`, () => {
      const fault = "SMTP_URL must be an address like smtp://… or smtps://…";
      assert.deepEqual(faultsOf({ SMTP_URL: given }), [fault]);
    });
});

test("the three OpenID Connect settings are set together or not at all", () => {
  const all = { OIDC_ISSUER: "https://id.example/realm/", OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "secret" };
  assert.equal(parseConfig(all).oidcIssuer, "https://id.example/realm");
  const fault = "OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together or not at all";
  for (const left of Object.keys(all)) assert.deepEqual(faultsOf({ ...all, [left]: "" }), [fault]);
});

test("every secret is marked as secret", () => {
  const secrets = Object.values(SETTINGS).filter((setting) => "isSecret" in setting && setting.isSecret);
  assert.deepEqual(
    secrets.map(({ name }) => name),
    ["DATABASE_URL", "SECRET_KEY", "SMTP_URL", "OIDC_CLIENT_SECRET"],
  );
});

test("every setting has a name, a description and a range, and its default is valid", () => {
  for (const { name, meaning, range, fallback, parse } of Object.values(SETTINGS)) {
    assert.match(name, /^[A-Z][A-Z0-9_]*$/);
    assert.match(meaning, /^\S.*\.$/);
    assert.notEqual(range, "");
    if (fallback !== null) assert.ok("value" in parse(fallback), name);
  }
});

test("an unreadable .env gives a one-line error", async () => {
  const line = createCommandLine({});
  mkdirSync(join(line.folder, ".env"));
  const outcome = await line.run(["org", "list"]);
  assert.deepEqual(outcome, { code: 1, stdout: "", stderr: "The file .env can't be read\n" });
});
