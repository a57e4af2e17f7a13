import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { offerHelp } from "../src/server/lib/offer-help.ts";
import { type Bar, printBars } from "./support/bars.ts";

// `npm run bench -- NAME` runs bench/NAME.ts; without a name it runs all of them. Each exports `run`, which prints its
// measurements and resolves to its targets. A table at the end shows which targets were met; the exit code is 1 if any was
// missed. `--bin DIR` says where PostgreSQL with Citus is installed, which only `cluster` needs. `--seconds N` shortens `visitors`. `--dir DIR` is the
// checkout that `against` compares with.

offerHelp(`npm run bench [-- NAME …] [--bin DIR] [--seconds N]

Runs benchmarks, all of them without a name. The exit code is 1 if a target was missed.

  NAME           a file in bench/, such as read-api
  --bin DIR      the folder with PostgreSQL and Citus, for the benchmark "cluster"
  --seconds N    how long "visitors" takes`);

const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && file !== "main.ts")
  .map((file) => file.slice(0, -".ts".length));
const { values, positionals: wanted } = parseArgs({
  options: { bin: { type: "string" }, dir: { type: "string" }, seconds: { type: "string" } },
  allowPositionals: true,
});
const unknown = wanted.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`Unknown bench: ${unknown.join(", ")}. Available: ${known.join(", ")}.`);
  process.exitCode = 2;
} else {
  const benches: { name: string; bars: Bar[] }[] = [];
  for (const name of wanted.length > 0 ? wanted : known) {
    console.log(`\n${name}`);
    const bench = (await import(`./${name}.ts`)) as {
      run(options: { bin: string | null; dir: string | null; seconds: number | null }): Promise<Bar[]>;
    };
    const seconds = values.seconds === undefined ? null : Number(values.seconds);
    benches.push({ name, bars: await bench.run({ bin: values.bin ?? null, dir: values.dir ?? null, seconds }) });
  }
  console.log("");
  printBars(benches);
  if (benches.some(({ bars }) => bars.some(({ isReached }) => !isReached))) process.exitCode = 1;
}
