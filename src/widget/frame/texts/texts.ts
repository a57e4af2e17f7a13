/** All texts of the frame. A language that lacks one does not compile. */
export type Texts = {
  bookWith(business: string): string;
  loading: string;
  back: string;
  close: string;
  continue: string;
  retry: string;
  stepOf(step: number, of: number): string;
  minutes(minutes: number): string;
  online: string;
  optional: string;

  chooseService: string;
  chooseStaff: string;
  anyone: string;
  anyoneHint: string;

  chooseTime: string;
  previousMonth: string;
  nextMonth: string;
  calendarHint: string;
  freeTimes(count: number): string;
  freeTimesOn(count: number, day: string): string;
  noTimesOn(day: string): string;
  noTimesIn(month: string): string;
  timesOn(day: string): string;
  chooseDay: string;
  morning: string;
  afternoon: string;
  evening: string;
  /** When people who speak this language start to say evening. */
  eveningHour: number;
  pleaseChooseTime: string;
  timeZone: string;
  suggestedZones: string;
  noTimesTitle: string;
  noTimes: string;
  noTimesWith(staff: string): string;
  otherService: string;
  otherStaff: string;

  yourDetails: string;
  name: string;
  email: string;
  phone: string;
  notes: string;
  pleaseSelect: string;
  privacyPolicy: string;
  confirm: string;
  sending: string;
  faultsTitle(count: number): string;
  nameMissing: string;
  emailMissing: string;
  emailWrong: string;
  answerMissing: string;
  phoneWrong: string;
  numberWrong: string;
  tooLong: string;
  fieldWrong: string;

  takenTitle: string;
  taken: string;
  unavailableTitle: string;
  unavailable: string;
  /** It may have been booked, or may still be. */
  uncertainTitle: string;
  uncertain: string;
  offlineTitle: string;
  offline: string;
  busyTitle: string;
  busy: string;
  changedTitle: string;
  changed: string;
  loadFailedTitle: string;
  timesFailedTitle: string;
  connectionFailed: string;
  /** The server answered with an error. */
  serverFailed: string;
  pausedTitle: string;
  paused: string;
  bookElsewhere: string;

  /** Shown above every step while the widget is in test mode. */
  testMode: string;
  testBookedTitle: string;
  testBooked: string;
  cancelTest: string;
  /** Before the title of a calendar entry. */
  test: string;
  bookedTitle: string;
  booked: string;
  reference: string;
  when: string;
  service: string;
  staff: string;
  manage: string;
  /** Instead of `manage`, if cancelling has a page of its own. */
  reschedule: string;
  cancel: string;
  join: string;
  addToCalendar: string;
  bookAnother: string;
  calendarTitle(service: string, business: string): string;
};
