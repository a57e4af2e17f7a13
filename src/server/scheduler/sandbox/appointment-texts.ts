import type { Language } from "#contract/widgets/languages.ts";

export type AppointmentTexts = {
  yourBooking: string;
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
  move: string;
  newTime: string;
  taken: string;
  meetingTitle: string;
  /** Every appointment here is a test. */
  test: string;
  sandbox: string;
  unknownTitle: string;
  unknown: string;
};

export const APPOINTMENT_TEXTS: Readonly<Record<Language, AppointmentTexts>> = {
  en: {
    yourBooking: "Your test booking",
    canceledTitle: "This appointment has been cancelled",
    canceled: "If you’d like to come at another time, please make a new booking.",
    pastTitle: "This appointment has already started or is over",
    past: "You can no longer cancel it here. Please contact the business.",
    when: "When",
    service: "Service",
    staff: "With",
    reference: "Reference",
    join: "Join the meeting",
    cancel: "Cancel test booking",
    sure: "The time will be available to others immediately.",
    move: "Move test booking",
    newTime: "New time",
    taken: "Someone else took this time. Please choose another one.",
    meetingTitle: "Your meeting room",
    test: "Test booking: no appointment was made.",
    sandbox: "This room is part of the test calendar. There is no video or sound.",
    unknownTitle: "Appointment not found",
    unknown:
      "The link may be incomplete, or the appointment was deleted. Please open the link exactly as you received it.",
  },
  de: {
    yourBooking: "Ihre Testbuchung",
    canceledTitle: "Dieser Termin wurde abgesagt",
    canceled: "Wenn Sie zu einer anderen Zeit kommen möchten, buchen Sie bitte einen neuen Termin.",
    pastTitle: "Dieser Termin hat bereits begonnen oder ist vorbei",
    past: "Sie können ihn hier nicht mehr absagen. Bitte wenden Sie sich an den Anbieter.",
    when: "Wann",
    service: "Leistung",
    staff: "Bei",
    reference: "Buchungsnummer",
    join: "Am Online-Termin teilnehmen",
    cancel: "Testbuchung stornieren",
    sure: "Der Termin wird sofort wieder für andere freigegeben.",
    move: "Testbuchung verschieben",
    newTime: "Neue Zeit",
    taken: "Diese Zeit ist gerade vergeben worden. Bitte wählen Sie eine andere.",
    meetingTitle: "Ihr Online-Termin",
    test: "Testbuchung: Es wurde kein Termin gebucht.",
    sandbox: "Dieser Online-Termin gehört zum Testkalender. Bild und Ton gibt es hier nicht.",
    unknownTitle: "Termin nicht gefunden",
    unknown:
      "Vielleicht ist der Link unvollständig, oder der Termin wurde gelöscht. Bitte öffnen Sie den Link genau so, wie Sie ihn erhalten haben.",
  },
  fr: {
    yourBooking: "Votre réservation de test",
    canceledTitle: "Ce rendez-vous a été annulé",
    canceled: "Pour venir à un autre moment, prenez un nouveau rendez-vous.",
    pastTitle: "Ce rendez-vous a déjà commencé ou est terminé",
    past: "Il n’est plus possible de l’annuler ici. Veuillez contacter l’établissement.",
    when: "Quand",
    service: "Prestation",
    staff: "Avec",
    reference: "Référence",
    join: "Rejoindre la réunion",
    cancel: "Annuler la réservation de test",
    sure: "Le créneau sera immédiatement proposé à d’autres personnes.",
    move: "Déplacer la réservation de test",
    newTime: "Nouvel horaire",
    taken: "Cet horaire vient d’être pris. Veuillez en choisir un autre.",
    meetingTitle: "Votre salle virtuelle",
    test: "Réservation de test\u00a0: aucun rendez-vous n’a été pris.",
    sandbox: "Cette salle fait partie de l’agenda de test. Il n’y a ni image ni son.",
    unknownTitle: "Rendez-vous introuvable",
    unknown:
      "Le lien est peut-être incomplet, ou le rendez-vous a été supprimé. Ouvrez le lien exactement tel que vous l’avez reçu.",
  },
  es: {
    yourBooking: "Su reserva de prueba",
    canceledTitle: "Esta cita se ha cancelado",
    canceled: "Si desea venir en otro momento, reserve una nueva cita.",
    pastTitle: "Esta cita ya ha empezado o ya ha pasado",
    past: "Ya no se puede cancelar aquí. Póngase en contacto con el establecimiento.",
    when: "Cuándo",
    service: "Servicio",
    staff: "Con",
    reference: "Referencia",
    join: "Unirse a la reunión",
    cancel: "Cancelar la reserva de prueba",
    sure: "La hora quedará disponible para otras personas de inmediato.",
    move: "Cambiar la hora de la reserva de prueba",
    newTime: "Nueva hora",
    taken: "Otra persona acaba de reservar esta hora. Elija otra.",
    meetingTitle: "Su sala virtual",
    test: "Reserva de prueba: no se ha reservado ninguna cita.",
    sandbox: "Esta sala forma parte del calendario de prueba. No hay vídeo ni sonido.",
    unknownTitle: "Cita no encontrada",
    unknown: "Puede que el enlace esté incompleto o que la cita se haya eliminado. Abra el enlace tal como lo recibió.",
  },
  pt: {
    yourBooking: "A sua marcação de teste",
    canceledTitle: "Esta marcação foi cancelada",
    canceled: "Se quiser vir noutra altura, faça uma nova marcação.",
    pastTitle: "Esta marcação já começou ou já terminou",
    past: "Já não é possível cancelá-la aqui. Entre em contacto com a empresa.",
    when: "Quando",
    service: "Serviço",
    staff: "Com",
    reference: "Referência",
    join: "Entrar na reunião",
    cancel: "Cancelar a marcação de teste",
    sure: "O horário ficará de imediato disponível para outras pessoas.",
    move: "Alterar a hora da marcação de teste",
    newTime: "Nova hora",
    taken: "Este horário acabou de ser ocupado. Escolha outro.",
    meetingTitle: "A sua sala virtual",
    test: "Marcação de teste: não foi feita nenhuma marcação real.",
    sandbox: "Esta sala faz parte da agenda de teste. Não há vídeo nem som.",
    unknownTitle: "Marcação não encontrada",
    unknown: "O link pode estar incompleto, ou a marcação foi eliminada. Abra o link tal como o recebeu.",
  },
  "pt-BR": {
    yourBooking: "Seu agendamento de teste",
    canceledTitle: "Este agendamento foi cancelado",
    canceled: "Se quiser vir em outro horário, faça um novo agendamento.",
    pastTitle: "Este agendamento já começou ou já terminou",
    past: "Não é mais possível cancelá-lo aqui. Entre em contato com a empresa.",
    when: "Quando",
    service: "Serviço",
    staff: "Com",
    reference: "Referência",
    join: "Entrar na reunião",
    cancel: "Cancelar o agendamento de teste",
    sure: "O horário ficará disponível para outras pessoas na mesma hora.",
    move: "Mudar o horário do agendamento de teste",
    newTime: "Novo horário",
    taken: "Este horário acabou de ser reservado. Escolha outro.",
    meetingTitle: "Sua sala virtual",
    test: "Agendamento de teste: nenhum agendamento real foi feito.",
    sandbox: "Esta sala faz parte da agenda de teste. Não há vídeo nem som.",
    unknownTitle: "Agendamento não encontrado",
    unknown: "O link pode estar incompleto, ou o agendamento foi excluído. Abra o link exatamente como o recebeu.",
  },
};
