import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startCitusCluster } from "./citus-cluster.ts";

/** Programs of a PostgreSQL that knows these settings, and whose servers print their arguments and end. */
function makePrograms(settings: readonly string[]): string {
  const bin = mkdtempSync(join(tmpdir(), "bookflow-bin-"));
  chmodSync(bin, 0o755);
  const programs = {
    initdb: "exit 0",
    postgres: `if [ "$1" = --describe-config ]; then printf '${settings.map((name) => `${name}\\n`).join("")}'; exit 0; fi
      echo "FATAL: no server with $*" >&2; exit 1`,
  };
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return bin;
}

for (const [minor, settings, expected] of [
  ["18.4", ["wal_level"], /did not start: FATAL: no server with (?!.*output_plugin_libraries)/s],
  ["18.6", ["wal_level", "output_plugin_libraries"], /FATAL: no server with .*output_plugin_libraries=pgoutput,citus/s],
] as const)
  test(`PostgreSQL ${minor} gets only settings that it knows, and says why it does not start`, async (context) => {
    const bin = makePrograms(settings);
    context.after(() => rmSync(bin, { recursive: true }));
    await assert.rejects(startCitusCluster({ bin, isDurable: false }), expected);
  });
