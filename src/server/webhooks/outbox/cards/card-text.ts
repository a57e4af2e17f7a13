// Prepares visitors' and businesses' text for a chat card: one clean line, escaped for the chat, then cut.

/** Escapes the character at `index` for a chat; may look at its neighbours. */
export type EscapeCharacter = (characters: readonly string[], index: number) => string;

/** Cleans and escapes; never longer than `maxLength`, never empty. */
export type WriteText = (text: string, maxLength: number) => string;

/** Not a hyphen: Teams takes a hyphen at the start for a list. */
const NOTHING = "–";
const ELLIPSIS = "…";
/** More than any field of a card holds; keeps cleaning cheap for very long text. */
const CLEANED_LENGTH_MAX = 4_000;

/**
 * Lengths are counted in UTF-16 units of the escaped text, the strictest way a chat could count. The text is cut between
 * code points and never inside an escape sequence.
 */
export function textWriter(escapeCharacter: EscapeCharacter): WriteText {
  return (text, maxLength) => {
    const characters = [...toCleanLine(text)];
    if (characters.length === 0) return NOTHING;
    let whole = "";
    let cut = "";
    for (const index of characters.keys()) {
      whole += escapeCharacter(characters, index);
      if (whole.length > maxLength) return cut + ELLIPSIS;
      if (whole.length < maxLength) cut = whole;
    }
    return whole;
  };
}

/** Line breaks, control and direction-override characters cannot reach a card: they could fake lines or reverse text. */
function toCleanLine(text: string): string {
  return text
    .slice(0, CLEANED_LENGTH_MAX)
    .toWellFormed()
    .replace(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}
