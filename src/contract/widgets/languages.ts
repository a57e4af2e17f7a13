export const LANGUAGES = ["en", "de", "fr", "es", "pt", "pt-BR"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The first of the tags (`de-AT`, `pt-BR`) that is one of our languages. Portuguese is European unless the tag says Brazil. */
export function findLanguage(tags: readonly string[]): { language: Language; tag: string } | null {
  for (const given of tags) {
    const tag = toKnownTag(given);
    if (tag === null) continue;
    const primary = tag.split("-", 1)[0]?.toLowerCase();
    const language = LANGUAGES.find((known) => known === tag) ?? LANGUAGES.find((known) => known === primary);
    if (language) return { language, tag };
  }
  return null;
}

/** A tag that Intl accepts. POSIX systems report tags such as `en-US@posix` or `de_DE.UTF-8`, which Intl refuses. */
function toKnownTag(text: string): string | null {
  const tag = text.replace(/[@.].*$/, "").replaceAll("_", "-");
  try {
    return new Intl.Locale(tag).baseName;
  } catch {
    return null;
  }
}
