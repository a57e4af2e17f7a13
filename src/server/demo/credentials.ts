import { BASE58 } from "#contract/ids.ts";
import { makeApiKey } from "../api-keys/token.ts";
import type { Config } from "../config.ts";
import { deriveRandom } from "../lib/derived-random.ts";
import { type Random, randomText } from "../lib/random.ts";
import { loadSecretKey } from "../secret-key.ts";
import { OWNER } from "./practice.ts";

// The demo's password and API key are shown at every start, while the database keeps only their hashes. So they are made of
// the service's secret key, each time the same: whoever has that key may know them, and nobody else can.

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

/** What `makeKey` makes the key of `readCredentials` with. */
export async function readKeyRandom(
  deps: { random: Random },
  config: Pick<Config, "secretKey" | "dataDir">,
): Promise<Random> {
  return createKeyRandom(await loadSecretKey(deps, config));
}

function createKeyRandom(secretKey: string): Random {
  return deriveRandom(secretKey, "demo API key, version 1");
}
