import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { offerHelp } from "../src/server/lib/offer-help.ts";

// `npm run build:sdk` compiles src/ to JavaScript and types in dist/, ready for `npm pack`.

const HERE = fileURLToPath(new URL(".", import.meta.url));
const COMPILER = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));

export function buildClient(outFolder: string): void {
  rmSync(outFolder, { recursive: true, force: true });
  execFileSync(process.execPath, [COMPILER, "-p", HERE, "--outDir", outFolder], { stdio: "inherit" });
  // As CommonJS, every program can load them: Node's import finds the names in them, and require knows nothing else before Node 20.19.
  writeFileSync(join(outFolder, "package.json"), '{ "type": "commonjs" }\n');
  // The compiler keeps `.ts` in type imports, which some editors and tools cannot resolve.
  for (const name of globSync("*.d.ts", { cwd: outFolder })) {
    const path = join(outFolder, name);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/("\.\/[^"]+)\.ts"/g, '$1.js"'));
  }
}

if (import.meta.main) {
  offerHelp(`npm run build:sdk

Compiles the client library to sdk/dist, ready for npm pack ./sdk.`);
  buildClient(join(HERE, "dist"));
}
