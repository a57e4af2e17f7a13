import type { AppWidget } from "#contract/app/widgets.ts";

/** The loader's three display modes (src/widget/loader/start.ts). */
export const INSTALL_MODES = {
  inline: {
    name: "Inline",
    meaning: "The widget appears in the page where you paste the snippet.",
  },
  popup: {
    name: "Popup",
    meaning: "Any button or link with the attribute data-svc-open opens the widget in a popup.",
  },
  float: {
    name: "Floating button",
    meaning: "A button stays in the corner of every page with the snippet.",
  },
} as const;
export type InstallMode = keyof typeof INSTALL_MODES;

export function toSnippet(widget: Pick<AppWidget, "id" | "pageUrl" | "snippet">, mode: InstallMode): string {
  const loader = (attributes: string) =>
    `<script async src="${toLoaderUrl(widget)}" data-widget="${widget.id}"${attributes}></script>`;
  switch (mode) {
    case "inline":
      return widget.snippet;
    case "popup":
      return `${loader("")}\n<button type="button" data-svc-open="${widget.id}">Book now</button>`;
    case "float":
      return loader(` data-mode="float"`);
    default:
      return mode satisfies never;
  }
}

export function toLoaderUrl(widget: SnippetWidget): string {
  return `${toBaseUrl(widget)}/loader.js`;
}

/** A page of Bookflow that stands in for the business's own, with the widget in this mode. */
export function toTestPage(widget: SnippetWidget, mode: InstallMode): string {
  return `${toBaseUrl(widget)}/test-page/${widget.id}?show=${mode}`;
}

type SnippetWidget = Pick<AppWidget, "id" | "pageUrl">;

function toBaseUrl({ id, pageUrl }: SnippetWidget): string {
  return pageUrl.slice(0, -`/w/${id}`.length);
}
