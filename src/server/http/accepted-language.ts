import { findLanguage, type Language } from "#contract/languages.ts";

/** What the browser asks for first among our languages, by its Accept-Language header; English where it asks for none. */
export function toAcceptedLanguage(header: string | undefined): Language {
  const wanted = (header ?? "").split(",").map((part) => {
    const [tag = "", ...parameters] = part.trim().split(";");
    const quality = parameters.map((parameter) => /^\s*q=([0-9.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
    return { tag, quality: quality === undefined ? 1 : Number(quality) };
  });
  const tags = wanted.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
  return findLanguage(tags.map(({ tag }) => tag))?.language ?? "en";
}
