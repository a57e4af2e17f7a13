import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { FAILURE_WORDS } from "#contract/attempt-words.ts";
import { ENDPOINT_HEADERS_MAX, ENDPOINT_TESTS_PER_MINUTE_MAX } from "#contract/endpoint.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { toSchemaExample } from "../../../test/support/app/schema-example.ts";
import { parseConfig } from "../config.ts";
import { CAPS } from "./queue/caps.ts";

// docs/webhooks.md must match the code: its figures are compared with the constants.

const FOLDER = new URL("../../../docs/", import.meta.url);
const guide = readFileSync(new URL("webhooks.md", FOLDER), "utf8");
const config = parseConfig({});

test("the guide's envelope is the schema's example", async () => {
  const { app } = await createTestApp();
  const document = (await app.inject("/api/v1/openapi.json")).json();
  const shown = JSON.parse(/```json\n(.*?)```/s.exec(guide)?.[1] ?? "");
  assert.deepEqual(shown, toSchemaExample(document, { $ref: "#/components/schemas/BookingCreatedEvent" }));
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
    "After three failed attempts in a row, the limit rises by one per second",
    `while deliveries are overdue, up to ${CAPS.perOverdueEndpoint}`,
    `at most ${ENDPOINT_TESTS_PER_MINUTE_MAX} tests per organization per minute`,
    `up to ${ENDPOINT_HEADERS_MAX} custom headers`,
    "the endpoint is turned off (a test never turns it off)",
  ])
    assert.ok(guide.includes(sentence), sentence);
  assert.deepEqual([CAPS.perCarefulEndpoint, CAPS.failingAfter], [1, 3]);
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
