import { BASE58 } from "#contract/ids.ts";
import { makeApiKey } from "../api-keys/api-keys.ts";
import type { Config } from "../config.ts";
import { deriveRandom, type Random, randomText } from "../lib/secrets/random.ts";
import { loadSecretKey } from "../secret-key.ts";
import { OWNER } from "./clinic.ts";

// The demo's password and API key are printed at every start, but the database stores only hashes. So both are derived from
// SECRET_KEY, the same each time; nobody without that key can work them out.

export type DemoCredentials = { readonly email: string; readonly password: string; readonly apiKey: string };

const PASSWORD_PARTS = 3;
const PASSWORD_PART_LENGTH = 4;

export async function readCredentials(
  deps: { random: Random },
  config: Pick<Config, "secretKey" | "dataDir">,
): Promise<DemoCredentials> {
  const secretKey = await loadSecretKey(deps, config);
  const forPassword = deriveRandom(secretKey, "demo password, version 1");
  const parts = Array.from({ length: PASSWORD_PARTS }, () => randomText(forPassword, BASE58, PASSWORD_PART_LENGTH));
  return { email: OWNER.email, password: parts.join("-"), apiKey: makeApiKey(createKeyRandom(secretKey)) };
}

/** Makes `makeKey` return the key that `readCredentials` prints. */
export async function readKeyRandom(
  deps: { random: Random },
  config: Pick<Config, "secretKey" | "dataDir">,
): Promise<Random> {
  return createKeyRandom(await loadSecretKey(deps, config));
}

function createKeyRandom(secretKey: string): Random {
  return deriveRandom(secretKey, "demo API key, version 1");
}
