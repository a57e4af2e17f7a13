import classes from "./JsonText.module.css";

/** Names, texts, and numbers or literals; splitting gives plain text and tokens in turn. */
const TOKENS = /("(?:[^"\\]|\\.)*"\s*:?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/;

export function JsonText({ text }: { text: string }) {
  return text.split(TOKENS).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other identity
      <span key={index} className={classes[toKind(piece)]}>
        {piece}
      </span>
    ),
  );
}

function toKind(token: string): "name" | "text" | "literal" {
  if (!token.startsWith('"')) return "literal";
  return token.endsWith(":") ? "name" : "text";
}
