import type { Language } from "#contract/widgets/languages.ts";
import type { Texts } from "./texts.ts";

const LOADERS: Record<Language, () => Promise<{ texts: Texts }>> = {
  en: () => import("./en.ts"),
  de: () => import("./de.ts"),
  fr: () => import("./fr.ts"),
  es: () => import("./es.ts"),
  pt: () => import("./pt.ts"),
  "pt-BR": () => import("./pt-BR.ts"),
};

export async function loadTexts(language: Language): Promise<Texts> {
  return (await LOADERS[language]()).texts;
}
