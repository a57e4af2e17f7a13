import { readFile } from "node:fs/promises";
import { SETTINGS } from "../src/server/config.ts";
import { createMetrics } from "../src/server/lib/log/metrics.ts";

// The tables in the guides for operators that are generated from the code. The rest of the guides is written by hand.

export async function renderSettingsGuide(): Promise<string> {
  return putBetween(await readGuide("settings"), "settings", renderSettings());
}

export async function renderMonitoringGuide(): Promise<string> {
  return putBetween(await readGuide("monitoring"), "metrics", renderMetrics());
}

async function readGuide(name: string): Promise<string> {
  return await readFile(new URL(`../docs/${name}.md`, import.meta.url), "utf8");
}

function putBetween(guide: string, name: string, table: string): string {
  const place = new RegExp(`(<!-- ${name}: [^\\n]* -->\\n).*?(<!-- /${name} -->)`, "s");
  if (!place.test(guide)) throw new Error(`The guide has no place for ${name}`);
  return guide.replace(place, (_whole, start: string, end: string) => `${start}${table}${end}`);
}

function renderSettings(): string {
  const rows = Object.values(SETTINGS).map(({ name, fallback, meaning, range }) => [
    `\`${name}\``,
    fallback === null || fallback === "" ? "" : `\`${fallback}\``,
    asCode(range === "any text" ? meaning : `${meaning} Allowed: ${range}.`),
  ]);
  return renderTable(["setting", "default", "meaning"], rows);
}

/** Node's own metrics are documented elsewhere. */
function renderMetrics(): string {
  // Every prom-client metric knows its label names; the list's type leaves them out.
  const metrics = createMetrics().registry.getMetricsAsArray() as unknown as Metric[];
  const rows = metrics
    .filter(({ name }) => name.startsWith("bookflow_"))
    .map(({ name, type, labelNames, help }) => [
      `\`${name}\``,
      type,
      labelNames.map((label) => `\`${label}\``).join(", "),
      help,
    ]);
  return renderTable(["metric", "type", "labels", "meaning"], rows);
}

type Metric = { name: string; type: string; help: string; labelNames: readonly string[] };

function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, headings.map(() => "---"), ...rows].map(
    (cells) => `| ${cells.map(escapeCell).join(" | ")} |`,
  );
  return `\n${lines.join("\n")}\n\n`;
}

/** Otherwise an address in a sentence would become a link. */
function asCode(sentence: string): string {
  return sentence.replaceAll(/\w+:\/\/[^\s,;]*[^\s,;.]/g, "`$&`");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
