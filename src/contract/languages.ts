/** The languages that visitors can use. */
export const LANGUAGES = ["en", "de", "fr", "es", "pt"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The first of the tags (`de-AT`, `pt-BR`) that is one of our languages. */
export function findLanguage(tags: readonly string[]): { language: Language; tag: string } | null {
  for (const tag of tags) {
    const primary = tag.split("-", 1)[0]?.toLowerCase();
    const language = LANGUAGES.find((known) => known === primary);
    if (language) return { language, tag };
  }
  return null;
}
