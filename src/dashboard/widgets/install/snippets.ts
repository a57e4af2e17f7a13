import type { AppWidget } from "#contract/app/widgets.ts";

/** The three ways to put a widget on a page, as the loader understands them (src/widget/loader/start.ts). */
export const INSTALL_MODES = {
  inline: {
    name: "In the page",
    meaning: "The widget stands where you put it, in the flow of your page.",
  },
  popup: {
    name: "Behind a button",
    meaning: "Any button or link of yours opens the widget above the page. Give it the attribute data-svc-open.",
  },
  float: {
    name: "Floating button",
    meaning: "A button stays in the corner of every page that has the snippet.",
  },
} as const;
export type InstallMode = keyof typeof INSTALL_MODES;

export function toSnippet(widget: Pick<AppWidget, "id" | "pageUrl" | "snippet">, mode: InstallMode): string {
  const base = widget.pageUrl.slice(0, -`/w/${widget.id}`.length);
  const loader = (attributes: string) =>
    `<script async src="${base}/loader.js" data-widget="${widget.id}"${attributes}></script>`;
  switch (mode) {
    case "inline":
      return widget.snippet;
    case "popup":
      return `${loader("")}\n<button type="button" data-svc-open="${widget.id}">Book now</button>`;
    case "float":
      return loader(` data-mode="float" data-label="Book now"`);
    default:
      return mode satisfies never;
  }
}
