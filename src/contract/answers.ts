// How answers to questions are written as texts.

/** The answer to a `tick` that is ticked. */
export const TICKED = "Yes";
/** Between the options in the answer to `choices`. */
export const CHOICES_SEPARATOR = "\n";
