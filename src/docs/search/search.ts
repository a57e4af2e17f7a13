import MiniSearch from "minisearch";
import type { Passage } from "#contract/docs-search.ts";

export type Match = Pick<Passage, "address" | "guide" | "heading"> & { readonly excerpt: string };

const MATCHES_MAX = 12;
const EXCERPT_LENGTH = 160;

/** Finds every word of the query, even as the beginning of a longer word or with a typo. */
export function openSearch(passages: readonly Passage[]): (query: string) => Match[] {
  const index = new MiniSearch<Passage & { id: number }>({
    fields: ["heading", "guide", "text"],
    searchOptions: {
      boost: { heading: 4, guide: 2 },
      boostDocument: (id) => (passages[id]?.isForCustomers ? 2 : 1),
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  index.addAll(passages.map((passage, id) => ({ ...passage, id })));
  return (query) =>
    index
      .search(query)
      .slice(0, MATCHES_MAX)
      .flatMap(({ id, terms }) => {
        const passage = passages[id];
        return passage ? { ...passage, excerpt: toExcerpt(passage.text, terms) } : [];
      });
}

/** The text around the first word that matched. */
function toExcerpt(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = first < EXCERPT_LENGTH / 2 ? 0 : text.lastIndexOf(" ", first - EXCERPT_LENGTH / 4) + 1;
  const end = start + EXCERPT_LENGTH < text.length ? text.lastIndexOf(" ", start + EXCERPT_LENGTH) : text.length;
  return `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
}
