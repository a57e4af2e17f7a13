const segmenter = new Intl.Segmenter();

/** By grapheme: an emoji or a letter with combining accents stays whole. */
const firstOf = (text: string, count: number) =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)
    .slice(0, count)
    .join("");

/** The first letters of the first two words, or the first two letters of a single word. */
export function toInitials(name: string): string {
  const [first = "", second] = name.trim().split(/\s+/);
  return (second === undefined ? firstOf(first, 2) : firstOf(first, 1) + firstOf(second, 1)).toUpperCase();
}
