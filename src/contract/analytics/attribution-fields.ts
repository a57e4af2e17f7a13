/** They identify a click on an ad. Ad networks add them to the link. */
export const CLICK_ID_PARAMETERS = ["gclid", "gbraid", "wbraid", "fbclid", "msclkid", "li_fat_id", "ttclid"] as const;

/** What is kept of a link's query: the most useful first, because their total length is limited. */
export const LINK_PARAMETERS = [
  "utm_source",
  "utm_medium",
  "utm_campaign",
  ...CLICK_ID_PARAMETERS,
  "gad_source",
  "gad_campaignid",
  "utm_term",
  "utm_content",
] as const;
export type LinkParameter = (typeof LINK_PARAMETERS)[number];

type ToField<Parameter extends string> = Parameter extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<ToField<Tail>>}`
  : Parameter;
export type ClickIdField = ToField<(typeof CLICK_ID_PARAMETERS)[number]>;
export type LinkField = ToField<LinkParameter>;

/** The attribution's field: liFatId for li_fat_id. */
export function toLinkField<Parameter extends LinkParameter>(parameter: Parameter): ToField<Parameter> {
  // The compiler does not follow a replacement.
  return parameter.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as ToField<Parameter>;
}

/**
 * Finds what may be an email address in a tag, a path or a referrer: text on both sides of an @, of its full-width or small form, or
 * of an @ that is written out, as some mail forms do. Each may be percent-encoded, any number of times. The loader, the frame and
 * the server keep no text in which it finds one.
 */
export const EMAIL_IN_TEXT =
  /[^\s/]([@\uff20\ufe6b]|\s*[([{]at\W+|%(25)*(40|(28|[57]b)at%|ef%(25)*(bc%(25)*a0|b9%(25)*ab)))[^\s/]/i;
