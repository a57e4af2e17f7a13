// What loader, frame and server must recognise as an email address in a tag, a path or a referrer, and what they must not.

export const TEXTS_WITH_EMAIL = [
  "jane@example.com",
  "jane@localhost",
  "x mailto:jane@example.com y",
  "jane%40example.com",
  "jane%2540example.com",
  "jane%252540example.com",
  "jane＠example.com",
  "jane%EF%BC%A0example.com",
  "jane%25ef%25bc%25a0example.com",
  "jane﹫example.com",
  "jane%EF%B9%ABexample.com",
  "jane(at)example.com",
  "JANE(AT)EXAMPLE.COM",
  "jane[at]example.com",
  "jane{at}example.com",
  "jane (at) example.com",
  "jane%28at%29example.com",
  "jane%5Bat%5Dexample.com",
  "jane%7Bat%7Dexample.com",
  "jane%2528at%2529example.com",
] as const;

export const TEXTS_WITHOUT_EMAIL = [
  "@dentist",
  "5 @ home",
  "social/@dentist",
  "(at)home",
  "law(attorney)",
  "law %28attorney%29",
  "what(ever)at",
  "50%25 off",
  "size%EF%BC%ABlarge",
  "40%4",
] as const;
