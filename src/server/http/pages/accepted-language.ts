import { findLanguage, type Language } from "#contract/languages.ts";
import { parseWeights } from "../accept.ts";

/**
 * The supported language that the browser prefers according to Accept-Language; English if there is no match. The tag may have a
 * region, which decides how dates are written.
 */
export function toAcceptedLanguage(header: string | undefined): { language: Language; tag: string } {
  const wanted = parseWeights(header ?? "").filter(([, weight]) => weight > 0);
  const tags = wanted.sort(([, a], [, b]) => b - a).map(([tag]) => tag);
  return findLanguage(tags) ?? { language: "en", tag: "en" };
}
