import { findLanguage, type Language } from "#contract/widgets/languages.ts";

/** No browser sends as much, and parsing a long one is slow. */
export const ACCEPT_LENGTH_MAX = 1_000;

/** The names in an Accept header with their weights, in the header's order. A weight that is not a number counts as 0. */
export function parseWeights(header: string): [name: string, weight: number][] {
  const parts = header.slice(0, ACCEPT_LENGTH_MAX).split(",");
  return parts.map((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = Number(parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2) ?? 1);
    return [name, Number.isFinite(weight) ? weight : 0];
  });
}

/** Browsers name HTML when they open an address. Programs that take anything don't. */
export function prefersHtml(header: string | undefined): boolean {
  const weights = new Map(parseWeights((header ?? "").toLowerCase()));
  return (weights.get("text/html") ?? 0) > (weights.get("application/json") ?? 0);
}

/**
 * The supported language that the browser prefers according to Accept-Language; English if there is no match. The tag may have a
 * region, which decides how dates are written.
 */
export function toAcceptedLanguage(header: string | undefined): { language: Language; tag: string } {
  const wanted = parseWeights(header ?? "").filter(([, weight]) => weight > 0);
  const tags = wanted.sort(([, a], [, b]) => b - a).map(([tag]) => tag);
  return findLanguage(tags) ?? { language: "en", tag: "en" };
}
