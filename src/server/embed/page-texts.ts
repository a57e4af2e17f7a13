import type { Language } from "#contract/languages.ts";

/** What the server itself says; everything else is said by the frame, in its own texts. */
type PageTexts = {
  book(businessName: string): string;
  loading: string;
  needsScript: string;
  openBookingPage: string;
  unknownTitle: string;
  unknown: string;
};

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = {
  en: {
    book: (name) => `Book an appointment – ${name}`,
    loading: "One moment…",
    needsScript: "Booking needs JavaScript, which is switched off in this browser.",
    openBookingPage: "Open the booking page",
    unknownTitle: "This booking page does not exist",
    unknown:
      "The address may be misspelt, or the page was taken down. Please ask the business for its current address.",
  },
  de: {
    book: (name) => `Termin buchen – ${name}`,
    loading: "Einen Moment …",
    needsScript: "Zum Buchen wird JavaScript gebraucht, das in diesem Browser abgeschaltet ist.",
    openBookingPage: "Buchungsseite öffnen",
    unknownTitle: "Diese Buchungsseite gibt es nicht",
    unknown:
      "Vielleicht ist die Adresse falsch geschrieben, oder die Seite wurde entfernt. Bitte fragen Sie das Unternehmen nach der aktuellen Adresse.",
  },
  fr: {
    book: (name) => `Prendre rendez-vous – ${name}`,
    loading: "Un instant…",
    needsScript: "La réservation a besoin de JavaScript, désactivé dans ce navigateur.",
    openBookingPage: "Ouvrir la page de réservation",
    unknownTitle: "Cette page de réservation n’existe pas",
    unknown:
      "L’adresse est peut-être mal écrite, ou la page a été retirée. Demandez l’adresse actuelle à l’établissement.",
  },
  es: {
    book: (name) => `Reservar una cita – ${name}`,
    loading: "Un momento…",
    needsScript: "Para reservar hace falta JavaScript, que está desactivado en este navegador.",
    openBookingPage: "Abrir la página de reservas",
    unknownTitle: "Esta página de reservas no existe",
    unknown: "Puede que la dirección esté mal escrita o que la página se haya retirado. Pida la actual al negocio.",
  },
  pt: {
    book: (name) => `Fazer uma marcação – ${name}`,
    loading: "Um momento…",
    needsScript: "Para marcar é preciso JavaScript, que está desativado neste navegador.",
    openBookingPage: "Abrir a página de marcações",
    unknownTitle: "Esta página de marcações não existe",
    unknown: "O endereço pode estar incorreto ou a página foi retirada. Peça o endereço atual à empresa.",
  },
};
