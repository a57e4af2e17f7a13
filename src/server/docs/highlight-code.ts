import type { HtmlPart } from "../http/html.ts";
import { highlight, highlightJsonText } from "../reference/code-panel.ts";

// Enough colour to find one's way in a snippet: notes, texts, and the few words that carry its shape.

type Language = { readonly title: string; readonly tokens: RegExp };

const SHELL = /((?<=^|\s)#.*$|'[^']*'|"(?:[^"\\]|\\.)*")/m;
const SCRIPT =
  /(\/\/.*$|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\b(?:as|async|await|catch|const|else|export|for|from|function|if|import|new|of|return|throw|try|type|var)\b)/m;
const SETTINGS = /((?<=^|\s)#.*$|"[^"\n]*"|^[ \t]*-?[ \t]*[\w.-]+(?=[:=]))/m;

const LANGUAGES: Readonly<Record<string, Language>> = {
  sh: { title: "Shell", tokens: SHELL },
  ts: { title: "TypeScript", tokens: SCRIPT },
  js: { title: "JavaScript", tokens: SCRIPT },
  html: { title: "HTML", tokens: /(<!--[\s\S]*?-->|<\/?[A-Za-z][\w-]*|"[^"]*")/ },
  http: { title: "HTTP", tokens: /(^[A-Za-z][\w-]*:(?= )|"(?:[^"\\]|\\.)*")/m },
  sql: { title: "SQL", tokens: /(--.*$|'[^']*'|\b(?:and|delete|from|insert|into|select|set|update|where)\b)/im },
  yaml: { title: "YAML", tokens: SETTINGS },
};

export function toLanguageTitle(language: string): string {
  if (language === "json") return "JSON";
  return LANGUAGES[language]?.title ?? "Text";
}

/** What is not known stays as it is. */
export function highlightCode(language: string, text: string): HtmlPart {
  if (language === "json") return highlightJsonText(text);
  const known = LANGUAGES[language];
  return known === undefined ? text : highlight(text, known.tokens, toClass);
}

function toClass(token: string): string {
  if (/^(#|\/\/|\/\*|--|<!--)/.test(token)) return "note";
  return /^["'`]/.test(token) ? "text" : "key";
}
