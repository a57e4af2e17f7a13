import { createHash } from "node:crypto";
import { findLanguage, type Language } from "#contract/widgets/languages.ts";
import type { BookableWidget } from "../widgets/widgets.ts";
import { PAGE_TEXTS } from "./page-texts.ts";

// The look of the floating button. It reaches the loader through a hidden frame, because that is all a page with a strict content
// security policy has to allow: a request of the script would need `connect-src`.

/** What src/widget/loader/start.ts receives. */
type ButtonLook = { label: string; lang: Language; style: string };

const ACCENT = "#4b45d6";
/** White, if the browser can't tell whether black or white is easier to read on the accent. */
const STYLE = [
  "position:fixed",
  "inset-block-end:0",
  "inset-inline-end:0",
  "z-index:999999",
  "padding:16px 24px",
  "border:0",
  "border-radius:24px",
  "background:var(--color)",
  "color:#fff",
  "color:oklch(from var(--color) calc((.65 - l)*99) 0 0)",
  "box-shadow:0 4px 16px #0004",
].join(";");

export function toButtonLook(
  widget: Pick<BookableWidget, "accentColor" | "options">,
  visitor: { pageLocale: string; accepted: Language },
): ButtonLook {
  const { accentColor, options } = widget;
  const lang = options.language ?? findLanguage([visitor.pageLocale])?.language ?? visitor.accepted;
  const own = [
    // The page's own accent, the widget's, or ours.
    `--color:var(--accent,${accentColor ?? ACCENT})`,
    ...(options.cornerRadius === null ? [] : [`border-radius:${options.cornerRadius}px`]),
  ];
  return { label: options.buttonLabel ?? PAGE_TEXTS[lang].bookNow, lang, style: [STYLE, ...own].join(";") };
}

/** A page whose only script hands the look to the page around it. Nothing in it is secret. */
export function renderButtonPage(look: ButtonLook): { body: string; scriptHash: string } {
  // The label is the operator's text: "</script>" in it must not end the script.
  const script = `parent.postMessage(${JSON.stringify(look).replaceAll("<", "\\u003c")},"*")`;
  const scriptHash = `'sha256-${createHash("sha256").update(script).digest("base64")}'`;
  return { body: `<!doctype html><title>-</title><script>${script}</script>`, scriptHash };
}
