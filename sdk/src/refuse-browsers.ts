// An API key can read every stored booking of its organization, and a signing secret can forge webhooks. Neither belongs in a
// web page.

const REFUSAL =
  "@bookflow/client runs on servers only. Everyone who opens a web page can read its API key or signing secret. " +
  "Call Bookflow from your server instead.";

type Globals = {
  document?: unknown;
  importScripts?: unknown;
  process?: { versions?: { node?: unknown } | undefined } | undefined;
};

export function refuseBrowsers(globals: Globals = globalThis as Globals): void {
  if (isBrowser(globals)) refuse();
}

export function refuse(): never {
  throw new Error(REFUSAL);
}

/** Pages have a document, and web workers have importScripts. Tests on Node may define a document, so Node is checked first. */
function isBrowser({ document, importScripts, process }: Globals): boolean {
  if (typeof process?.versions?.node === "string") return false;
  return typeof document === "object" || typeof importScripts === "function";
}
