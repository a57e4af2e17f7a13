import type { Language } from "#contract/languages.ts";

// The loader's own texts; the frame has the rest.

/** By language: the frame's title and its Close button. */
const TEXTS: Record<string, string | undefined> = {
  en: "Book an appointment|Close",
  de: "Termin buchen|Schließen",
  fr: "Prendre rendez-vous|Fermer",
  es: "Reservar cita|Cerrar",
  pt: "Marcar agora|Fechar",
} satisfies Record<Language, string>;

export function findTexts(locale: string): { title: string; close: string } {
  const [title = "", close = ""] = (TEXTS[locale.slice(0, 2).toLowerCase()] ?? TEXTS["en"] ?? "").split("|");
  return { title, close };
}
