import type { FastifyInstance } from "fastify";
import { SETTINGS } from "../src/server/config.ts";
import type { Pool } from "../src/server/db/pool.ts";
import { renderClientTypes } from "./client-types.ts";
import { describeSchema } from "./describe-schema.ts";
import { renderOperatingGuide } from "./operating-tables.ts";

// The committed files that follow from the code. `npm run generate` writes them; a test fails when one is stale.

export type GeneratedFile = { name: string; render(from: { app: FastifyInstance; pool: Pool }): Promise<string> };

export const GENERATED_FILES: readonly GeneratedFile[] = [
  { name: ".env.example", render: async () => renderEnvironment() },
  { name: "openapi.json", render: async ({ app }) => await renderOpenApi(app) },
  { name: "schema.sql", render: async ({ pool }) => await describeSchema(pool) },
  { name: "docs/operating.md", render: renderOperatingGuide },
  { name: "sdk/src/types.ts", render: async () => renderClientTypes() },
];

function renderEnvironment(): string {
  const settings = Object.values(SETTINGS).map(
    ({ name, meaning, range, fallback }) => `# ${meaning}\n# Range: ${range}.\n# ${name}=${fallback ?? ""}\n`,
  );
  return [
    "# Every setting of Bookflow with its default. Copy this file to .env, and take the # away from what you change.\n" +
      "# Made by `npm run generate` from src/server/config.ts.\n",
    ...settings,
  ].join("\n");
}

async function renderOpenApi(app: FastifyInstance): Promise<string> {
  await app.ready();
  return `${JSON.stringify(app.swagger(), null, 2)}\n`;
}
