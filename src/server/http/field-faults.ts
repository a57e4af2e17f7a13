/** What members and visitors are told alike of what they typed about themselves. */
export const FIELD_FAULTS = {
  noName: "Please give a name.",
  longName: "This name is too long.",
  notAnEmail: "This is not an e-mail address.",
} as const;
