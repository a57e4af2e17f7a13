import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where `npm run build` puts the scripts and styles of /docs, and the address they are served under. */
export const DOCS_FILES_FOLDER = fileURLToPath(new URL("../../../dist/assets/docs/", import.meta.url));
export const DOCS_FILES_ADDRESS = "/assets/docs/";

type PageFiles = { readonly script: string; readonly stylesheets: readonly string[] };

export type DocsFiles = {
  readonly guides: PageFiles;
  readonly reference: PageFiles;
  /** The library that draws the API reference. */
  readonly scalar: string;
};

type Manifest = Record<string, { file: string; css?: string[] }>;

/** Null before the first build. */
export function loadDocsFiles(): DocsFiles | null {
  const path = join(DOCS_FILES_FOLDER, "manifest.json");
  if (!existsSync(path)) return null;
  // Vite writes this file during our own build.
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  const toAddress = (file: string) => DOCS_FILES_ADDRESS + file;
  const find = (name: string): PageFiles => {
    const { file = "", css = [] } = manifest[name] ?? {};
    return { script: toAddress(file), stylesheets: css.map(toAddress) };
  };
  return {
    guides: find("src/docs/guides/main.ts"),
    reference: find("src/docs/reference/main.ts"),
    scalar: toAddress(manifest["scalar"]?.file ?? ""),
  };
}
