import type { Language } from "#contract/languages.ts";

// The loader's own texts; the frame has the rest.

/** By language: the frame's title and its Close button. */
const TEXTS = {
  en: "Book an appointment|Close",
  de: "Termin buchen|Schließen",
  fr: "Prendre rendez-vous|Fermer",
  es: "Reservar cita|Cerrar",
  pt: "Marcar agora|Fechar",
} satisfies Record<Language, `${string}|${string}`>;

export function findTexts(locale: string): [title: string, close: string] {
  // An unknown language gives undefined. Every entry has two parts, as the type above says.
  const text: string | undefined = TEXTS[locale.slice(0, 2).toLowerCase() as Language];
  return (text ?? TEXTS.en).split("|") as [string, string];
}
