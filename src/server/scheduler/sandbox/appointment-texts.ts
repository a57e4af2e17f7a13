import type { Language } from "#contract/languages.ts";

/** What the pages behind an appointment's links say. */
export type AppointmentTexts = {
  yourAppointment: string;
  canceledTitle: string;
  canceled: string;
  pastTitle: string;
  past: string;
  when: string;
  service: string;
  staff: string;
  reference: string;
  join: string;
  cancel: string;
  sure: string;
  yesCancel: string;
  meetingTitle: string;
  meeting: string;
  sandbox: string;
  unknownTitle: string;
  unknown: string;
};

export const APPOINTMENT_TEXTS: Readonly<Record<Language, AppointmentTexts>> = {
  en: {
    yourAppointment: "Your appointment",
    canceledTitle: "This appointment is canceled",
    canceled: "The time is free for others again. To come another time, please book anew.",
    pastTitle: "This appointment has begun or is over",
    past: "It cannot be canceled here any more. Please get in touch with the business.",
    when: "When",
    service: "Service",
    staff: "With",
    reference: "Reference",
    join: "Join the meeting",
    cancel: "Cancel this appointment",
    sure: "The time is given to others at once.",
    yesCancel: "Yes, cancel it",
    meetingTitle: "Your meeting room",
    meeting: "Please come back here at the time of your appointment.",
    sandbox: "This room belongs to the built-in demonstration calendar: nobody can be seen or heard in it.",
    unknownTitle: "This link leads nowhere",
    unknown: "It may be incomplete, or the appointment was too long ago. Please open the link as you received it.",
  },
  de: {
    yourAppointment: "Ihr Termin",
    canceledTitle: "Dieser Termin ist abgesagt",
    canceled: "Die Zeit ist wieder für andere frei. Für einen anderen Termin buchen Sie bitte neu.",
    pastTitle: "Dieser Termin hat begonnen oder ist vorbei",
    past: "Er kann hier nicht mehr abgesagt werden. Bitte wenden Sie sich an das Unternehmen.",
    when: "Wann",
    service: "Leistung",
    staff: "Bei",
    reference: "Buchungsnummer",
    join: "Am Online-Termin teilnehmen",
    cancel: "Diesen Termin absagen",
    sure: "Die Zeit wird sofort für andere frei.",
    yesCancel: "Ja, absagen",
    meetingTitle: "Ihr Besprechungsraum",
    meeting: "Bitte kommen Sie zur Zeit Ihres Termins wieder hierher.",
    sandbox: "Dieser Raum gehört zum eingebauten Vorführkalender: Man kann hier niemanden sehen oder hören.",
    unknownTitle: "Dieser Link führt nirgendwohin",
    unknown:
      "Vielleicht ist er unvollständig, oder der Termin ist lange her. Bitte öffnen Sie den Link so, wie Sie ihn erhalten haben.",
  },
  fr: {
    yourAppointment: "Votre rendez-vous",
    canceledTitle: "Ce rendez-vous est annulé",
    canceled: "L’horaire est de nouveau libre. Pour venir à un autre moment, réservez à nouveau.",
    pastTitle: "Ce rendez-vous a commencé ou est passé",
    past: "Il ne peut plus être annulé ici. Veuillez contacter l’établissement.",
    when: "Quand",
    service: "Prestation",
    staff: "Avec",
    reference: "Référence",
    join: "Rejoindre la réunion",
    cancel: "Annuler ce rendez-vous",
    sure: "L’horaire est aussitôt rendu aux autres.",
    yesCancel: "Oui, annuler",
    meetingTitle: "Votre salle de réunion",
    meeting: "Revenez ici à l’heure de votre rendez-vous.",
    sandbox: "Cette salle appartient au calendrier de démonstration : on ne peut y voir ni entendre personne.",
    unknownTitle: "Ce lien ne mène nulle part",
    unknown: "Il est peut-être incomplet, ou le rendez-vous est trop ancien. Ouvrez le lien tel que vous l’avez reçu.",
  },
  es: {
    yourAppointment: "Su cita",
    canceledTitle: "Esta cita está cancelada",
    canceled: "El horario vuelve a estar libre. Para venir en otro momento, reserve de nuevo.",
    pastTitle: "Esta cita ha empezado o ya pasó",
    past: "Ya no se puede cancelar aquí. Póngase en contacto con el negocio.",
    when: "Cuándo",
    service: "Servicio",
    staff: "Con",
    reference: "Referencia",
    join: "Unirse a la reunión",
    cancel: "Cancelar esta cita",
    sure: "El horario queda libre al instante.",
    yesCancel: "Sí, cancelar",
    meetingTitle: "Su sala de reunión",
    meeting: "Vuelva aquí a la hora de su cita.",
    sandbox: "Esta sala es del calendario de demostración: aquí no se puede ver ni oír a nadie.",
    unknownTitle: "Este enlace no lleva a ninguna parte",
    unknown: "Puede que esté incompleto o que la cita sea muy antigua. Abra el enlace tal como lo recibió.",
  },
  pt: {
    yourAppointment: "A sua marcação",
    canceledTitle: "Esta marcação está cancelada",
    canceled: "O horário está livre novamente. Para vir noutra altura, marque de novo.",
    pastTitle: "Esta marcação já começou ou já passou",
    past: "Já não pode ser cancelada aqui. Entre em contacto com a empresa.",
    when: "Quando",
    service: "Serviço",
    staff: "Com",
    reference: "Referência",
    join: "Entrar na reunião",
    cancel: "Cancelar esta marcação",
    sure: "O horário fica livre de imediato.",
    yesCancel: "Sim, cancelar",
    meetingTitle: "A sua sala de reunião",
    meeting: "Volte aqui à hora da sua marcação.",
    sandbox: "Esta sala é do calendário de demonstração: aqui não se vê nem se ouve ninguém.",
    unknownTitle: "Este endereço não leva a lado nenhum",
    unknown: "Pode estar incompleto, ou a marcação foi há muito tempo. Abra o endereço tal como o recebeu.",
  },
};
