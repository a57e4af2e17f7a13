import type { RefObject } from "preact";
import type { ConfigAnswer } from "#contract/book.ts";
import type { Flow, FlowAction } from "../flow.ts";
import type { Formats } from "../formats.ts";
import type { Session } from "../session.ts";

/** What every step is given. */
export type StepProps = {
  session: Session;
  config: ConfigAnswer;
  flow: Flow;
  change: (action: FlowAction) => void;
  formats: Formats;
  /** The heading of the step, which gets the focus when the step begins. */
  headed: RefObject<HTMLHeadingElement | null>;
};
