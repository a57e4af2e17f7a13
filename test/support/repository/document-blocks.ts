import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A fenced block in a document. */
export type Block = { readonly document: string; readonly language: string; readonly text: string };

/** Every document that people follow, from the root. */
const DOCUMENTS = ["README.md", "CONTRIBUTING.md", "sdk/README.md", "docs/**/*.md"];

export function listBlocks(): Block[] {
  const documents = globSync(DOCUMENTS, { cwd: ROOT }).map((path) => path.replaceAll("\\", "/"));
  return documents.sort().flatMap((document) => {
    const text = readFileSync(`${ROOT}/${document}`, "utf8");
    return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", inside = ""]) => ({
      document,
      language,
      text: inside,
    }));
  });
}
