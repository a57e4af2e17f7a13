import type { RefObject } from "preact";
import type { ConfigResponse } from "#contract/widgets/embed-api.ts";
import type { Flow, FlowAction } from "../flow.ts";
import type { Frame } from "../frame.ts";
import type { Formats } from "../times/formats.ts";

export type StepProps = {
  frame: Frame;
  config: ConfigResponse;
  flow: Flow;
  change: (action: FlowAction) => void;
  formats: Formats;
  /** The step's heading, which gets the focus when the step begins. */
  headed: RefObject<HTMLHeadingElement | null>;
};
