import { addHost, make } from "./make.ts";

/** A button in the corner of every page. It opens like any element with `data-svc-open`. */
export function showFloatingButton(widget: string, textContent: string): HTMLElement {
  const button = make("button", { className: "float", textContent });
  addHost("float", button).dataset["svcOpen"] = widget;
  return button;
}
