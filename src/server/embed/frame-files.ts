import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LANGUAGES, type Language } from "#contract/widgets/languages.ts";

/** Where `npm run build` writes the booking frame's files, and the address they are served under. */
export const FRAME_FOLDER = fileURLToPath(new URL("../../../dist/assets/frame/", import.meta.url));
export const FRAME_ADDRESS = "/assets/frame/";

export type FrameFiles = {
  readonly script: string;
  readonly stylesheets: readonly string[];
  /** The script with the texts of a language. */
  readonly texts: Readonly<Partial<Record<Language, string>>>;
};

type Manifest = Record<string, { file: string; css?: string[]; imports?: string[] }>;

/** Null before the first build. */
export function loadFrameFiles(): FrameFiles | null {
  const path = join(FRAME_FOLDER, "manifest.json");
  if (!existsSync(path)) return null;
  // Written by Vite only.
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  const entry = manifest["src/widget/frame/main.tsx"];
  if (!entry) return null;
  const toAddress = (file: string) => FRAME_ADDRESS + file;
  return {
    script: toAddress(entry.file),
    stylesheets: (entry.css ?? []).map(toAddress),
    texts: Object.fromEntries(
      LANGUAGES.flatMap((language) => {
        const file = manifest[`src/widget/frame/texts/${language}.ts`]?.file;
        return file === undefined ? [] : [[language, toAddress(file)]];
      }),
    ),
  };
}
