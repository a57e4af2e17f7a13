import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { transformWithOxc } from "vite";
import { BROWSER_STEPS } from "#contract/analytics/steps.ts";
import { noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import {
  createEmbedded,
  openVisitor,
  readContexts,
  SERVICE,
  SITE,
  waitForButton,
  waitForContexts,
  watchErrors,
} from "../support/browser/embedded.ts";
import { type ServedPage, toPage } from "../support/browser/host-site.ts";

// docs/embedding.md is tested as written: its snippets are pasted into pages, with this service's address and widget.

const browser = openBrowser();
const { web, widgetId, visitor } = await createEmbedded();

const guide = readFileSync(new URL("../../docs/embedding.md", import.meta.url), "utf8")
  .replaceAll("https://book.example.com", SERVICE)
  .replaceAll("w_8Jk2mNqRs4Tv", widgetId);

/** In the code: the steps that a browser takes, and the codes of failed bookings. */
function readEvents() {
  const submit = readFileSync(new URL("../../src/widget/frame/submit.ts", import.meta.url), "utf8");
  const [, toCode = ""] = submit.split("function toCode(");
  const codes = [...toCode.matchAll(/return "(\w+)"/g)].map(([, code = ""]) => code);
  const steps = BROWSER_STEPS.filter((step) => guide.includes(`\`${step}\``));
  return { steps, codes };
}

/** The snippets tested so far. */
const tried = new Set<string>();

/** A section's snippet, by how it starts. */
function snippet(heading: string, start = ""): string {
  const section = guide.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  const code = [...section.matchAll(/```\w*\n(.*?)```/gs)]
    .map(([, each]) => each ?? "")
    .find((each) => each.startsWith(start));
  assert.ok(code, `${heading}: ${start}`);
  tried.add(code);
  return code;
}

const SCRIPT = snippet("The snippet");
const STUB = snippet("In a popup", "<script>").replace(/ {2}svc\("open".*\n/, "");

async function visit(page: string | ServedPage, path = "/"): Promise<{ page: Page; errors: string[] }> {
  web.addSite(new URL(SITE).host, { "/": page });
  const opened = await openVisitor(browser, visitor);
  const errors = watchErrors(opened);
  await opened.goto(SITE + path);
  await opened.waitForFunction("customElements.get('svc-booking')");
  return { page: opened, errors };
}

describe("the guide for page owners", { skip: noBrowser }, () => {
  test("shows a widget in the page, under the policy it names", async () => {
    const policy = snippet("Content-Security-Policy").trim();
    const body = toPage(snippet("In the page"), { head: SCRIPT });
    const { page, errors } = await visit({ body, headers: { "content-security-policy": policy } });
    assert.equal((await waitForContexts(page, 1))[0]?.mode, "inline");
    assert.deepEqual(errors, []);
  });

  test("shows a popup from a link", async () => {
    const { page, errors } = await visit(toPage(snippet("In a popup", "<a"), { head: SCRIPT }));
    await page.getByText("Book an appointment").click();
    assert.equal((await waitForContexts(page, 1))[0]?.mode, "popup");
    assert.equal(page.url(), `${SITE}/`);
    assert.deepEqual(errors, []);
  });

  test("shows a popup from a script that runs before ours", async () => {
    const { page, errors } = await visit(toPage("", { head: snippet("In a popup", "<script>") + SCRIPT }));
    assert.equal((await waitForContexts(page, 1))[0]?.mode, "popup");
    assert.deepEqual(errors, []);
  });

  test("shows a floating button", async () => {
    const { page, errors } = await visit(toPage("", { head: snippet("Behind a floating button") }));
    await waitForButton(page, "Book an appointment");
    assert.deepEqual(errors, []);
  });

  test("passes colours and prefilled values to the frame, and events to listeners", async () => {
    const code = ["Theme", "Prefill the form", "Listen to events"].map((heading) => snippet(heading)).join("\n");
    const { page, errors } = await visit(toPage("", { head: `${STUB}<script>${code}</script>${SCRIPT}` }));
    const [context] = await waitForContexts(page, 1);
    assert.deepEqual(context?.theme, { accent: "#0a7d55", mode: "auto", radius: 8 });
    assert.equal(context?.prefill?.name, "Mara Quell");
    assert.equal(context?.service, "consultation");
    assert.deepEqual(errors, []);
  });

  test("stores nothing until its consent call", async () => {
    const { page } = await visit(toPage("", { head: snippet("Consent and privacy", "<script") }));
    assert.equal(await page.evaluate("localStorage.length"), 0);
    await page.evaluate(snippet("Consent and privacy", "svc("));
    assert.equal(await page.evaluate("Object.keys(localStorage).join()"), "svc_attr");
    assert.equal(await page.evaluate("document.cookie"), "");
  });

  for (const [consents, isStored] of [
    ["{ 1: true, 7: true }", true],
    ["{ 1: true, 7: false }", false],
    ["{}", false],
  ] as const) {
    test(`reads consent from IAB TCF, purposes ${consents}`, async () => {
      const platform = `<script>function __tcfapi(command, version, listener) {
        listener({ eventStatus: "cmpuishown", gdprApplies: true, purpose: { consents: {} } }, true);
        setTimeout(() => {
          listener({ eventStatus: "useractioncomplete", gdprApplies: true, purpose: { consents: ${consents} } }, true);
          answered = true;
        }, 50);
      }</script>`;
      const head = `${STUB}${snippet("Consent and privacy", "<script")}${platform}<script>${snippet("Consent and privacy", "__tcfapi")}</script>`;
      const { page, errors } = await visit(toPage("", { head }));
      await page.waitForFunction("window.answered");
      assert.equal(await page.evaluate("!!localStorage.getItem('svc_attr')"), isStored);
      assert.deepEqual(errors, []);
    });
  }

  test("combines with Google's consent mode", async () => {
    const code = `${snippet("Consent and privacy", "function onBannerAnswer")}function gtag() {}`;
    const head = `${STUB}${snippet("Consent and privacy", "<script")}<script>${code}</script>`;
    const { page } = await visit(toPage("", { head }));
    await page.evaluate("onBannerAnswer(true)");
    assert.equal(await page.evaluate("!!localStorage.getItem('svc_attr')"), true);
    await page.evaluate("onBannerAnswer(false)");
    assert.equal(await page.evaluate("!!localStorage.getItem('svc_attr')"), false);
  });

  test("has components for React and Vue that are valid and show the element for a widget in the page", async () => {
    const react = await transformWithOxc(snippet("React and Vue", "export function"), "booking.jsx");
    assert.match(react.code, new RegExp(`"svc-booking", \\{ widget: "${widgetId}" \\}`));
    const [, template = ""] = /^<template>(.*)<\/template>$/s.exec(snippet("React and Vue", "<template>").trim()) ?? [];
    const { page } = await visit(toPage(template, { head: SCRIPT }));
    assert.equal((await waitForContexts(page, 1))[0]?.mode, "inline");
  });

  test("lists every step and every failure that a page hears of", () => {
    const { steps, codes } = readEvents();
    assert.deepEqual(steps, BROWSER_STEPS);
    for (const code of codes) assert.ok(guide.includes(`| \`${code}\` |`), code);
  });

  test("links to a working booking page", async () => {
    const page = await openVisitor(browser, visitor);
    const address = /`(http[^`]+\/w\/\w+)`/.exec(guide)?.[1] ?? "";
    await page.goto(address);
    await page.getByText("Consultation (sample)", { exact: true }).waitFor();
    assert.equal(readContexts(page).length, 0);
  });

  test("has every snippet tested", () => {
    const all = [...guide.matchAll(/```\w*\n(.*?)```/gs)].map(([, each]) => each ?? "");
    assert.deepEqual(
      all.filter((each) => !tried.has(each)),
      [],
    );
  });
});
