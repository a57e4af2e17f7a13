import { type HtmlPart, html } from "../http/pages/html.ts";

// Enough colour to find your way in a snippet: comments, strings, literals, and the few words that give it structure.

type Language = { readonly title: string; readonly tokens: RegExp };

const SHELL = /((?<=^|\s)#.*$|'[^']*'|"(?:[^"\\]|\\.)*")/m;
const SCRIPT =
  /(\/\/.*$|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\b(?:as|async|await|catch|const|else|export|for|from|function|if|import|new|of|return|throw|try|type|var)\b)/m;
const SETTINGS = /((?<=^|\s)#.*$|"[^"\n]*"|^[ \t]*-?[ \t]*[\w.-]+(?=[:=]))/m;

const LANGUAGES: Readonly<Record<string, Language>> = {
  sh: { title: "Shell", tokens: SHELL },
  ts: { title: "TypeScript", tokens: SCRIPT },
  jsx: { title: "JSX", tokens: SCRIPT },
  vue: { title: "Vue", tokens: /(<\/?[A-Za-z][\w-]*|"[^"]*")/ },
  js: { title: "JavaScript", tokens: SCRIPT },
  py: {
    title: "Python",
    tokens: /((?<=^|\s)#.*$|"""[\s\S]*?"""|b?"(?:[^"\\\n]|\\.)*"|\b(?:def|for|if|import|in|return)\b)/m,
  },
  php: { title: "PHP", tokens: SCRIPT },
  go: { title: "Go", tokens: SCRIPT },
  json: { title: "JSON", tokens: /("(?:[^"\\]|\\.)*":?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/ },
  html: { title: "HTML", tokens: /(<!--[\s\S]*?-->|<\/?[A-Za-z][\w-]*|"[^"]*")/ },
  http: { title: "HTTP", tokens: /(^[A-Za-z][\w-]*:(?= )|"(?:[^"\\]|\\.)*")/m },
  sql: { title: "SQL", tokens: /(--.*$|'[^']*'|\b(?:and|delete|from|insert|into|select|set|update|where)\b)/im },
  ndjson: { title: "JSON lines", tokens: /("(?:[^"\\]|\\.)*":?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/ },
  nginx: { title: "nginx", tokens: SHELL },
  caddy: { title: "Caddyfile", tokens: SHELL },
  yaml: { title: "YAML", tokens: SETTINGS },
};

export function toLanguageTitle(language: string): string {
  return LANGUAGES[language]?.title ?? "Text";
}

/** An unknown language stays plain. */
export function highlightCode(language: string, text: string): HtmlPart {
  const known = LANGUAGES[language];
  if (known === undefined) return text;
  // Each pattern has one group, so splitting gives plain text and tokens in turn.
  return text
    .split(known.tokens)
    .map((piece, index) => (index % 2 === 0 ? piece : html`<span class="${toClass(piece)}">${piece}</span>`));
}

function toClass(token: string): string {
  if (/^(#|\/\/|\/\*|--|<!--)/.test(token)) return "note";
  if (/^(-?\d|true$|false$|null$)/.test(token)) return "literal";
  return /^["'`]/.test(token) && !token.endsWith(":") ? "text" : "key";
}
