import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createMetrics } from "../src/server/lib/log/metrics.ts";
import { createTestDatabase } from "./support/database/database.ts";
import { startServiceProcess } from "./support/programs/service-process.ts";
import { ROOT } from "./support/repository/document-blocks.ts";
import { readPromql } from "./support/repository/promql.ts";

// The Grafana dashboard, the alert rules and the operating guide must use metrics and labels that a running service has.

type Target = { expr: string; datasource: { uid: string } };
type Panel = {
  id: number;
  type: string;
  title: string;
  targets?: Target[];
  gridPos: { x: number; y: number; w: number; h: number };
};

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const dashboard = JSON.parse(read("docs/samples/grafana/bookflow-dashboard.json"));
const panels: Panel[] = dashboard.panels;
const alerts = [...read("docs/samples/prometheus/alerts.yml").matchAll(/^ {6}- alert: (\w+)\n {8}expr: (.+)$/gm)].map(
  ([, name = "", expr = ""]) => ({ name, expr }),
);
const guide = read("docs/monitoring.md");

/** Labels that Prometheus adds itself. */
const OWN_METRICS = ["up"];
const OWN_LABELS = ["instance", "job", "le"];

// Every prom-client metric knows its label names; the list's type leaves them out.
const registered = createMetrics().registry.getMetricsAsArray() as unknown as {
  name: string;
  type: string;
  help: string;
  labelNames: string[];
}[];

const { url } = await createTestDatabase();
const service = await startServiceProcess({ DATABASE_URL: url });
const exposed = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();

function findMetric(name: string) {
  return registered.find((metric) => {
    const isHistogram = metric.type === "histogram" || metric.type === "summary";
    return metric.name === name || (isHistogram && metric.name === name.replace(/_(bucket|sum|count)$/, ""));
  });
}

function assertExposed(where: string, expr: string): void {
  const { metrics, labels } = readPromql(expr);
  assert.ok(metrics.length > 0, where);
  const ours = metrics.filter((name) => !OWN_METRICS.includes(name));
  for (const name of ours) {
    const metric = findMetric(name);
    assert.ok(metric && exposed.includes(`# TYPE ${metric.name} ${metric.type}\n`), `${where}: ${name}`);
  }
  const known = [...OWN_LABELS, ...ours.flatMap((name) => findMetric(name)?.labelNames ?? [])];
  for (const label of labels) assert.ok(known.includes(label), `${where}: ${label}`);
}

describe("the Grafana dashboard", () => {
  test("uses existing metrics and labels, and shows every metric", () => {
    const targets = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    for (const { title, expr } of targets) assertExposed(title, expr);
    for (const { definition } of dashboard.templating.list) {
      const [, metric = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      assertExposed(definition, metric);
      assert.ok(OWN_LABELS.includes(label));
    }
    const shown = new Set(
      targets.flatMap(({ expr }) => readPromql(expr).metrics.map((name) => findMetric(name)?.name)),
    );
    const missing = registered.filter(({ name }) => name.startsWith("bookflow_") && !shown.has(name));
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    );
  });

  test("can be imported: it prompts for the data source, and panels have unique ids and places", () => {
    assert.equal(dashboard.schemaVersion, 39);
    assert.deepEqual(
      dashboard.__inputs.map(({ name, pluginId }: Record<string, string>) => [name, pluginId]),
      [["DS_PROMETHEUS", "prometheus"]],
    );
    for (const { title, targets = [] } of panels)
      for (const { datasource } of targets) assert.equal(datasource.uid, `\${${"DS_PROMETHEUS"}}`, title);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length, "no two panels share a place");
    assert.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
  });
});

test("every log event is in the monitoring guide, and no other", () => {
  const files = globSync("src/server/**/*.ts", { cwd: ROOT }).filter((path) => !path.endsWith(".test.ts"));
  const logged = files.flatMap((path) =>
    [
      ...read(path).matchAll(/(?:\blog\.(?:debug|info|warn|error)\(\s*|\b(?:failed|resumed): )"([a-z_]+\.[a-z_]+)"/gi),
    ].map(([, name = ""]) => name),
  );
  const [, table = ""] = guide.split("### Every event");
  const explained = [...table.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (?:debug|info|warn|error) \|/gm)].map(
    ([, name = ""]) => name,
  );
  // The command line logs this one, and has no log of its own.
  const ofService = [...new Set(logged)].filter((name) => name !== "command.failed");
  assert.deepEqual([...explained].sort(), ofService.sort());
});

describe("the alert rules", () => {
  test("use existing metrics and labels", () => {
    assert.ok(alerts.length > 10);
    for (const { name, expr } of alerts) assertExposed(name, expr);
  });

  test("are those explained in the operating guide, in the same order", () => {
    const explained = [...guide.matchAll(/^\| `(Bookflow\w+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual(
      explained,
      alerts.map(({ name }) => name),
    );
  });

  test("watch existing tasks", () => {
    const watched = alerts.flatMap(({ expr }) => /task=~"([^"]+)"/.exec(expr)?.[1]?.split("|") ?? []);
    assert.equal(watched.length, 5);
    for (const task of watched)
      assert.match(exposed, new RegExp(`^bookflow_task_runs_total\\{task="${task}",outcome="failed"\\} 0$`, "m"));
  });
});

test("every metric named in the operating guide exists, and is named by Prometheus's conventions", () => {
  for (const [name] of guide.matchAll(/\bbookflow_[a-z_]+[a-z]\b/g)) assert.ok(findMetric(name), name);
  for (const { name, type, help } of registered.filter((metric) => metric.name.startsWith("bookflow_"))) {
    assert.equal(name.endsWith("_total"), type === "counter", name);
    assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kb|mb)\b/);
    if (type === "histogram") assert.match(name, /_seconds$/);
    assert.match(help, /\.$/, name);
  }
});
