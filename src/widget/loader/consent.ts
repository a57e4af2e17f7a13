// What we may keep of a visitor:
//
//   all      stored, with click ids and the ids of Google Analytics and Meta; the visitor consented
//   stored   stored, with click ids; the page owner decided that no consent is needed
//   waiting  kept in memory, and sent as with `page`, until the visitor answers
//   page     campaign tags and the referring host of this page view; anything stored earlier is deleted

/** A misspelt mode counts as `required`, the strictest reading. */
export type ConsentMode = undefined | "" | "auto" | "required" | "off" | (string & {});
export type ConsentChoice = "granted" | "denied";
export type Permission = "all" | "stored" | "waiting" | "page";

/** Global Privacy Control and Do Not Track override the page's settings. */
export function decidePermission(
  mode: ConsentMode,
  choice: ConsentChoice | undefined,
  signals: { readonly globalPrivacyControl?: unknown; readonly doNotTrack?: unknown },
): Permission {
  if (signals.globalPrivacyControl || signals.doNotTrack === "1" || mode === "off" || choice === "denied")
    return "page";
  if (choice === "granted") return "all";
  return !mode || mode === "auto" ? "stored" : "waiting";
}
