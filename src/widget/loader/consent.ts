// What may be kept of a visitor:
//
//   all      stored, with click ids and the ids of Google Analytics and Meta: the visitor agreed
//   stored   stored, with click ids: nobody was asked, and the page owner decided that nobody has to be
//   waiting  in this page's memory; sent is what `page` sends, until there is an answer
//   page     campaign tags and the referring host of this page view; what was stored earlier is deleted

/** A mode that is misspelt counts as `required`: it keeps the least that the page owner can have meant. */
export type ConsentMode = "" | "auto" | "required" | "off" | (string & {});
export type ConsentAnswer = "granted" | "denied";
export type Permission = "all" | "stored" | "waiting" | "page";

/** Global Privacy Control and Do Not Track outweigh everything that the page says. */
export function decidePermission(about: {
  mode: ConsentMode;
  answer: ConsentAnswer | undefined;
  signals: { readonly globalPrivacyControl?: unknown; readonly doNotTrack?: unknown };
}): Permission {
  const { mode, answer, signals } = about;
  if (signals.globalPrivacyControl === true || signals.doNotTrack === "1" || mode === "off" || answer === "denied")
    return "page";
  if (answer === "granted") return "all";
  return !mode || mode === "auto" ? "stored" : "waiting";
}
