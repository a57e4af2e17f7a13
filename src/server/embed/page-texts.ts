import type { Language } from "#contract/widgets/languages.ts";

/** Texts that the server renders. The frame has all other texts. */
type PageTexts = {
  book(businessName: string): string;
  /** On the floating button, unless the widget has a label of its own. */
  bookNow: string;
  loading: string;
  needsScript: string;
  bookElsewhere: string;
  unknownTitle: string;
  unknown: string;
};

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = {
  en: {
    book: (name) => `Book an appointment – ${name}`,
    bookNow: "Book an appointment",
    loading: "One moment…",
    needsScript: "Please turn on JavaScript in your browser to book.",
    bookElsewhere: "Book another way",
    unknownTitle: "Booking page not found",
    unknown:
      "The address may be misspelt, or the page may have been removed. Please ask the business for the current address.",
  },
  de: {
    book: (name) => `Termin buchen – ${name}`,
    bookNow: "Termin buchen",
    loading: "Einen Moment …",
    needsScript: "Bitte aktivieren Sie JavaScript in Ihrem Browser, um zu buchen.",
    bookElsewhere: "Auf anderem Weg buchen",
    unknownTitle: "Buchungsseite nicht gefunden",
    unknown:
      "Vielleicht ist die Adresse falsch geschrieben, oder die Seite wurde entfernt. Bitte fragen Sie den Anbieter nach der aktuellen Adresse.",
  },
  fr: {
    book: (name) => `Prendre rendez-vous – ${name}`,
    bookNow: "Prendre rendez-vous",
    loading: "Un instant…",
    needsScript: "Pour réserver, veuillez activer JavaScript dans votre navigateur.",
    bookElsewhere: "Réserver autrement",
    unknownTitle: "Page de réservation introuvable",
    unknown:
      "L’adresse est peut-être mal saisie, ou la page a été supprimée. Demandez l’adresse actuelle à l’établissement.",
  },
  es: {
    book: (name) => `Reservar una cita – ${name}`,
    bookNow: "Reservar cita",
    loading: "Un momento…",
    needsScript: "Para reservar, active JavaScript en su navegador.",
    bookElsewhere: "Reservar de otra forma",
    unknownTitle: "Página de reservas no encontrada",
    unknown:
      "Puede que la dirección esté mal escrita o que la página se haya eliminado. Pida al establecimiento la dirección actual.",
  },
  pt: {
    book: (name) => `Fazer uma marcação – ${name}`,
    bookNow: "Fazer marcação",
    loading: "Um momento…",
    needsScript: "Para fazer a marcação, ative o JavaScript no seu navegador.",
    bookElsewhere: "Marcar de outra forma",
    unknownTitle: "Página de marcações não encontrada",
    unknown: "O endereço pode estar incorreto, ou a página pode ter sido removida. Peça o endereço atual à empresa.",
  },
  "pt-BR": {
    book: (name) => `Agendar horário – ${name}`,
    bookNow: "Agendar horário",
    loading: "Um momento…",
    needsScript: "Para agendar, ative o JavaScript no seu navegador.",
    bookElsewhere: "Agendar de outra forma",
    unknownTitle: "Página de agendamento não encontrada",
    unknown: "O endereço pode estar incorreto, ou a página pode ter sido removida. Peça o endereço atual à empresa.",
  },
};
