// An API key opens every stored booking of its organization, and a signing secret makes webhooks: neither may be in a page.

const REFUSAL =
  "@bookflow/client runs on servers only. An API key or a signing secret in a web page belongs to everybody who opens it: " +
  "call Bookflow from your server, and let the page ask your server.";

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

/** Pages have a document and their workers importScripts. Tests on Node may make up a document, and are still on Node. */
function isBrowser({ document, importScripts, process }: Globals): boolean {
  if (typeof process?.versions?.node === "string") return false;
  return typeof document === "object" || typeof importScripts === "function";
}
