import { findLanguage, type Language } from "#contract/languages.ts";

/**
 * The supported language that the browser prefers according to Accept-Language; English if there is no match. The tag may have a
 * region, which decides how dates are written.
 */
export function toAcceptedLanguage(header: string | undefined): { language: Language; tag: string } {
  const wanted = (header ?? "").split(",").map((part) => {
    const [tag = "", ...parameters] = part.trim().split(";");
    const quality = parameters.map((parameter) => /^\s*q=([0-9.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
    return { tag, quality: quality === undefined ? 1 : Number(quality) };
  });
  const tags = wanted.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality);
  return findLanguage(tags.map(({ tag }) => tag)) ?? { language: "en", tag: "en" };
}
