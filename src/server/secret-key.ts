import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "./config.ts";
import { type Random, randomUuid } from "./lib/secrets/random.ts";
import { StartError } from "./lib/start-error.ts";

const FILE_NAME = "secret-key";
const KEY_BYTES = 32;

/** SECRET_KEY, or the key that was generated at the first start with this data folder. */
export async function loadSecretKey(
  deps: { random: Random },
  config: Pick<Config, "secretKey" | "dataDir">,
): Promise<string> {
  if (config.secretKey !== null) return config.secretKey;
  const path = join(config.dataDir, FILE_NAME);
  try {
    await mkdir(config.dataDir, { recursive: true });
    await writeOnce(deps, path, deps.random.bytes(KEY_BYTES).toString("base64url"));
  } catch (error) {
    throw new StartError(`The secret key can't be saved in ${path}. Set SECRET_KEY, or make DATA_DIR writable.`, {
      cause: error,
    });
  }
  return (await readFile(path, "utf8")).trim();
}

/** The file appears complete or not at all, and only the first process creates it. */
async function writeOnce(deps: { random: Random }, path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUuid(deps.random)}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
}
