import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Frame, Page } from "playwright-core";
import { BRANCH, CHILDREN, WEBSITE } from "../../src/server/demo/clinic.ts";
import { findAccessibilityFaults, noBrowser, useBrowser as openBrowser } from "../support/browser/browser.ts";
import { waitForButton } from "../support/browser/embedded.ts";
import { makeTestFolder, untilNoneRuns } from "../support/database/embedded/processes.ts";
import { CLEAN_ENVIRONMENT } from "../support/programs/clean-environment.ts";
import { findFreePort } from "../support/programs/free-port.ts";

const PROGRAM = fileURLToPath(new URL("../../scripts/demo.ts", import.meta.url));
const SIGNS = { service: /Dashboard +(http:\S+)\/app\//, site: /Sample site +(\S+)/, receiver: /Receiver +(\S+)/ };

const browser = openBrowser();
const { folder } = makeTestFolder();

type Demo = { child: ChildProcess; service: string; site: string; receiver: string; key: string; said: string };

async function startDemo(): Promise<Demo> {
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: folder,
    env: { ...CLEAN_ENVIRONMENT, DATA_DIR: `${folder}/data`, PORT: String(await findFreePort()) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`The demo ended with ${code}: ${said}`)));
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (/demo clear\n/.test(said)) resolve();
      });
  });
  const find = (sign: RegExp) => sign.exec(said)?.[1] ?? assert.fail(said);
  const [service, site, receiver] = [find(SIGNS.service), find(SIGNS.site), find(SIGNS.receiver)];
  return { child, service, site, receiver, key: find(/KEY=(svc_live_\w+)/), said };
}

async function stopDemo({ child }: Demo): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
  await untilNoneRuns(folder);
}

/** The newest reference and the total number of bookings, requested as the printed lines do. */
async function readStored({ service, key }: Demo): Promise<[reference: string, bookings: number]> {
  const ask = async (path: string) => {
    const response = await fetch(`${service}/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(response.status, 200);
    return await response.json();
  };
  const [{ data }, { totals }] = [await ask("bookings?limit=1"), await ask("analytics?days=730")];
  return [data[0].reference, totals.bookings];
}

/** Frames are in closed shadow roots, so they are found by their URL. */
async function findFrame(page: Page, address: string): Promise<Frame> {
  for (;;) {
    const frame = page.frames().find((one) => one.url().startsWith(address));
    if (frame) return frame;
    await page.waitForEvent("framenavigated");
  }
}

async function book(frame: Frame): Promise<string> {
  await frame.getByRole("button", { name: /Video consultation/ }).click();
  // The first time may pass before it is booked: the demo's clock is the real one.
  await frame.locator(".time").last().click();
  await frame.getByRole("button", { name: "Continue" }).click();
  await frame.getByLabel("Name").fill("Mara <b>Quell</b> *& Söhne*");
  await frame.getByLabel("Email").fill("mara_quell@example.com");
  await frame.getByRole("button", { name: "Book now" }).click();
  await frame.getByRole("heading", { name: "You’re booked" }).waitFor();
  assert.equal(await frame.getByText("Test mode").count(), 0);
  return (await frame.locator(".reference").innerText()).trim();
}

test("a booking on the demo's sample site arrives signed and as cards, and a second start keeps the data", {
  skip: noBrowser,
}, async () => {
  const demo = await startDemo();
  const viewer = await browser.open({ viewport: { width: 1280, height: 860 } });
  await viewer.goto(demo.receiver);
  // The first visitors' bookings arrived before the page was opened, or arrive now.
  await viewer.locator("#panel-json li", { hasText: "Jürgen Weiß" }).getByText("Signature verified").waitFor();
  await viewer.getByText("Live", { exact: true }).waitFor();

  const page = await browser.open({ viewport: { width: 1280, height: 860 } });
  await page.goto(demo.site);
  assert.ok(new URL(demo.site).origin !== new URL(demo.service).origin);
  await page.getByRole("link", { name: "Book in Potsdam" }).click();
  const popup = await findFrame(page, `${demo.service}/embed/${BRANCH.id}`);
  await popup.getByRole("button", { name: /Check-up/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Book for a child" }).click();
  await findFrame(page, `${demo.service}/embed/${CHILDREN.id}`);
  await waitForButton(page, "Book an appointment");
  await page.locator("svc-booking").first().scrollIntoViewIfNeeded();
  const reference = await book(await findFrame(page, `${demo.service}/embed/${WEBSITE.id}`));

  const signed = viewer.locator("#panel-json li", { hasText: reference });
  await signed.getByText("Signature verified").waitFor();
  await signed.getByText("Mara <b>Quell</b> *& Söhne*").first().waitFor();
  for (const panel of ["slack", "teams"]) {
    const card = viewer.locator(`#panel-${panel} li`, { hasText: reference });
    await card.getByText(/^New booking: Mara <b>Quell<\/b> \*& Söhne\*, Video consultation/).waitFor();
    await card.getByText("mara_quell@example.com").waitFor();
    await card.getByRole("link", { name: "Manage booking" }).waitFor();
  }
  await viewer.locator("#panel-down li", { hasText: reference }).getByText("500").first().waitFor();
  const manage = viewer
    .locator("#panel-slack li", { hasText: reference })
    .getByRole("link", { name: "Manage booking" });
  await viewer.goto((await manage.getAttribute("href")) ?? "");
  await viewer.locator("summary", { hasText: "Cancel test booking" }).click();
  await viewer.getByRole("button", { name: "Cancel test booking" }).click();
  await viewer.getByRole("heading", { name: "This appointment has been cancelled" }).waitFor();
  assert.deepEqual(await findAccessibilityFaults(viewer), []);
  await viewer.goto(demo.receiver);
  await viewer.locator("#panel-json li", { hasText: reference }).waitFor();
  for (const one of [viewer, page]) assert.deepEqual(await findAccessibilityFaults(one), []);

  const [newest, bookings] = await readStored(demo);
  assert.equal(newest, reference);
  await stopDemo(demo);
  await assert.rejects(fetch(demo.receiver));

  const again = await startDemo();
  assert.equal(again.key, demo.key);
  assert.deepEqual(await readStored(again), [reference, bookings]);
  await stopDemo(again);
});
