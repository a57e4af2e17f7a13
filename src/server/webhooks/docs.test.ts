import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { FAILURE_WORDS } from "#contract/webhooks/delivery.ts";
import { ENDPOINT_HEADERS_MAX, ENDPOINT_TESTS_PER_MINUTE_MAX } from "#contract/webhooks/endpoint.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { toSchemaExample } from "../../../test/support/app/schema-example.ts";
import { parseConfig } from "../config.ts";
import { CAPS } from "./queue/caps.ts";

// docs/webhooks.md must match the code: its figures are compared with the constants.

const FOLDER = new URL("../../../docs/", import.meta.url);
const guide = readFileSync(new URL("webhooks.md", FOLDER), "utf8");
const config = parseConfig({});

const listBlocks = (language: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, text = ""]) => text);

test("the guide's events are the schemas' examples, and every event is shown", async () => {
  const { app } = await createTestApp();
  const document = (await app.inject("/api/v1/openapi.json")).json();
  const shown = new Map(listBlocks("json").map((text) => [JSON.parse(text).type as string, JSON.parse(text)]));
  const schemas = Object.keys(document.components.schemas).filter((name) => name.endsWith("Event"));
  const examples = schemas.map((name) => toSchemaExample(document, { $ref: `#/components/schemas/${name}` }));
  for (const example of examples as { type: string }[]) assert.deepEqual(shown.get(example.type), example);
  assert.equal(shown.size, examples.length);
});

test("the guide's functions are those of the sample receivers, which run in samples.test.ts", () => {
  for (const language of ["ts", "py", "php", "go"]) {
    const sample = readFileSync(new URL(`samples/webhooks/receiver.${language}`, FOLDER), "utf8");
    const [shown = "", ...others] = listBlocks(language);
    assert.deepEqual(others, []);
    const lines = new Set(sample.split("\n"));
    for (const line of shown.split("\n")) assert.ok(lines.has(line), `${language}: ${line}`);
    assert.match(shown, /is_?authentic/i);
  }
});

test("the guide's retry table is the default schedule, with running totals", () => {
  const cells = (start: string) =>
    guide
      .split("\n")
      .find((line) => line.startsWith(start))
      ?.split("|")
      .slice(2, -1)
      .map((cell) => cell.trim());
  let total = 0;
  const totals = config.webhookRetrySchedule.map((seconds) => {
    total += seconds;
    const [hours, minutes, rest] = [Math.floor(total / 3_600), Math.floor(total / 60) % 60, total % 60];
    return `${hours}:${String(minutes).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
  });
  assert.deepEqual(cells("| since the first attempt"), totals);
  const shown = config.webhookRetrySchedule.map((seconds) => (seconds < 120 ? `${seconds} s` : `${seconds / 60} min`));
  assert.deepEqual(cells("| after |"), shown);
  const longestSeconds = total * (1 + config.webhookRetryJitter) + (8 * config.webhookTimeoutMs) / 1_000;
  assert.ok(longestSeconds <= (2 * 60 + 18) * 60 && longestSeconds > (2 * 60 + 17) * 60);
});

test("the guide's other figures match the code", () => {
  for (const sentence of [
    `An organization can have ${config.maxEndpoints} endpoints`,
    `fails after ${config.webhookTimeoutMs / 1_000} seconds`,
    `Up to ${CAPS.perEndpoint} requests to one endpoint`,
    "gets one request at a time until one succeeds",
    `never more than ${CAPS.perOverdueEndpoint}`,
    `at most ${ENDPOINT_TESTS_PER_MINUTE_MAX} tests per organization per minute`,
    `up to ${ENDPOINT_HEADERS_MAX} custom headers`,
    "the endpoint is turned off (a test never turns it off)",
  ])
    assert.ok(guide.includes(sentence), sentence);
  assert.equal(CAPS.perCarefulEndpoint, 1);
});

test("it leads from every error that an attempt can have to its cause", () => {
  const [, page = ""] = guide.split("## Troubleshooting");
  for (const words of Object.values(FAILURE_WORDS).filter((each) => each !== FAILURE_WORDS.network_error))
    assert.ok(page.includes(words.replaceAll("’", "'")), words);
  for (const words of [
    "accepted by Teams",
    "Interrupted",
    "can't decrypt the signing secret",
    "redirects aren't followed",
  ])
    assert.ok(page.includes(words), words);
});

test("every file the guide links to exists", () => {
  for (const [, target = ""] of guide.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g))
    assert.ok(existsSync(new URL(target, FOLDER)), target);
});
