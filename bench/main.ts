import { readdirSync } from "node:fs";

// `npm run bench -- NAME` runs bench/NAME.ts, without a name all of them. Each exports `run`, which prints its table and
// resolves to whether every bar of the design's section 11 was reached; the process ends with 1 when one was missed.

const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && file !== "main.ts")
  .map((file) => file.slice(0, -".ts".length));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}; there are ${known.join(", ")}.`);
  process.exitCode = 2;
} else {
  for (const name of wanted.length > 0 ? wanted : known) {
    console.log(`\n${name}`);
    const bench = (await import(`./${name}.ts`)) as { run(): Promise<boolean> };
    if (!(await bench.run())) process.exitCode = 1;
  }
}
