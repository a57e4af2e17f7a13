/**
 * Finds what may be an email address in a tag, a path or a referrer: text on both sides of an @, of its full-width or small form, or
 * of an @ that is written out, as some mail forms do. Each may be percent-encoded, any number of times. The loader, the frame and
 * the server keep no text in which it finds one.
 */
export const EMAIL_IN_TEXT =
  /[^\s/]([@\uff20\ufe6b]|\s*[([{]at\W+|%(25)*(40|(28|[57]b)at%|ef%(25)*(bc%(25)*a0|b9%(25)*ab)))[^\s/]/i;
