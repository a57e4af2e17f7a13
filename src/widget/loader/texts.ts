import type { Language } from "#contract/widgets/languages.ts";

// The loader's own texts; the frame has the rest.

/** By language: the frame's title, its Close button, and what is shown when the frame can't be loaded. Commas compress best. The Portuguese ones suit both sides of the Atlantic. */
const TEXTS = {
  en: "Book an appointment,Close,Not loaded,Try again",
  de: "Termin buchen,Schließen,Nicht geladen,Erneut versuchen",
  fr: "Prendre rendez-vous,Fermer,Non chargé,Réessayer",
  es: "Reservar cita,Cerrar,No cargado,Reintentar",
  pt: "Agendar,Fechar,Não carregado,Tentar novamente",
} satisfies Record<Exclude<Language, "pt-BR">, `${string},${string},${string},${string}`>;

export function findTexts(locale: string): [title: string, close: string, failure: string, retry: string] {
  // An unknown language gives undefined. Every entry has four parts, as the type above says.
  const text: string | undefined = TEXTS[locale.slice(0, 2).toLowerCase() as keyof typeof TEXTS];
  return (text ?? TEXTS.en).split(",") as [string, string, string, string];
}
