/** What the search in the guides searches: every passage as JSON, read by the browser when someone first searches. */
export const PASSAGES_ADDRESS = "/docs/passages.json";

/** One heading of a guide, with the text below it up to the next heading. */
export type Passage = {
  readonly address: string;
  /** The title of the guide in the menu. */
  readonly guide: string;
  readonly heading: string;
  readonly text: string;
  /** Ranked above passages for operators and contributors. */
  readonly isForCustomers: boolean;
};
