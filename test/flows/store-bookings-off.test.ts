import assert from "node:assert/strict";
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Analytics } from "#contract/analytics/analytics.ts";
import { createCommandLine } from "../support/app/cli.ts";
import { bookThrough, findFreeTime } from "../support/bookings/book.ts";
import { startServiceProcess } from "../support/programs/service-process.ts";

const folder = mkdtempSync(join(tmpdir(), "bookflow-off-"));
// PostgreSQL runs as another user when root starts it, and that user needs access to the folder.
chmodSync(folder, 0o711);
after(() => rmSync(folder, { recursive: true, force: true }));

const SETTINGS = { DATABASE_URL: "", DATA_DIR: join(folder, "data"), LOG_LEVEL: "debug" };

test("with Store bookings off nothing about the visitor is in any file of the data folder or any log line", async () => {
  const service = await startServiceProcess(SETTINGS);
  const base = `http://127.0.0.1:${service.port}`;
  const { runInside } = createCommandLine(SETTINGS);
  const command = async (...words: string[]) => JSON.parse((await runInside([...words, "--json"])).stdout);
  const { id: org } = await command("org", "create", "--name", "Lindenhof", "--plan", "business");
  const { key } = await command("key", "create", "--org", org, "--name", "test");
  const bookAs = async (collectData: "on" | "off", marker: string) => {
    const words = ["widget", "create", "--org", org, "--name", "Website", "--collect-data", collectData];
    const { id: widget } = await command(...words);
    const time = await findFreeTime(base, widget, `answer ${marker}`);
    const customer = {
      name: `Mara ${marker}`,
      email: `${marker}@example.com`,
      phone: `+49 30 ${marker}`,
      notes: `Notes ${marker}`,
    };
    const response = await bookThrough(base, widget, { time, customer });
    assert.equal(response.status, 201, await response.text());
  };
  await bookAs("off", "unkeptmarker");
  await bookAs("on", "keptmarker");

  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${base}/api/v1/analytics`, { headers });
  const { totals } = (await response.json()) as Analytics;
  assert.equal(totals.bookings, 2, "both are counted");
  await service.kill("SIGTERM");

  assert.deepEqual(listFilesWith("unkeptmarker"), []);
  assert.ok(listFilesWith("keptmarker").length > 0, "the same search finds stored data");
  assert.doesNotMatch(service.output(), /keptmarker/);
});

function listFilesWith(text: string): string[] {
  return globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}
