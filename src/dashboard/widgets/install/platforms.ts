import type { AppWidget } from "#contract/app/widgets.ts";
import { type InstallMode, toLoaderUrl, toSnippet } from "./snippets.ts";

type InstallWidget = Pick<AppWidget, "id" | "pageUrl" | "snippet">;

/** Where the snippet goes in each website builder, in the words of its own menus. */
const PLATFORM_STEPS = {
  html: { name: "HTML", steps: ["Paste the snippet into your page, where the widget should appear."] },
  wordpress: {
    name: "WordPress",
    steps: [
      "Edit the page and add a block: choose “Custom HTML”.",
      "Paste the snippet into the block, then choose “Update”. On WordPress.com, scripts need a plan with plugins.",
    ],
  },
  wix: {
    name: "Wix",
    steps: [
      "In Settings, open “Custom Code” and choose “Add Custom Code”. Custom code needs a connected domain.",
      "Paste the snippet, choose the page, and place it at “Body – end”. Use the floating button or the popup: Wix adds custom code to the end of the page.",
    ],
  },
  squarespace: {
    name: "Squarespace",
    steps: [
      "Edit the page and add a “Code” block. Scripts need a plan with custom code.",
      "Paste the snippet, keep “HTML” selected, and save.",
    ],
  },
  webflow: {
    name: "Webflow",
    steps: [
      "In the Designer, drag a “Code Embed” element to where the widget should appear.",
      "Paste the snippet, choose “Save & Close”, then publish the site.",
    ],
  },
  shopify: {
    name: "Shopify",
    steps: [
      "Open Online Store → Themes → Customize, and go to the page.",
      "Add a “Custom Liquid” section, paste the snippet, and save.",
    ],
  },
  nextjs: { name: "Next.js", steps: ["Use this component on a page. It loads the script once."] },
  gtm: {
    name: "Google Tag Manager",
    steps: [
      "Create a “Custom HTML” tag and paste the snippet.",
      "Trigger it on the pages you want, then choose “Submit”. Tag Manager can’t place a widget inside the page, so use the floating button or the popup.",
    ],
  },
} as const;

type Platform = keyof typeof PLATFORM_STEPS;
export const PLATFORMS = Object.entries(PLATFORM_STEPS).map(([value, { name }]) => ({ value, label: name }));

export function isPlatform(text: string): text is Platform {
  return text in PLATFORM_STEPS;
}

/** These add code to the end of the page, where an inline widget would appear below everything. */
const END_OF_PAGE: readonly Platform[] = ["wix", "gtm"];

/** How pages without a widget remember where visitors came from: the end of a sentence, and the code it ends with. */
type EveryPage = { readonly text: string; readonly code?: string };

export function toInstall(
  widget: InstallWidget,
  platform: Platform,
  wanted: InstallMode,
): { steps: readonly string[]; snippet: string; mode: InstallMode; everyPage: EveryPage } {
  const mode = wanted === "inline" && END_OF_PAGE.includes(platform) ? "float" : wanted;
  const snippet = platform === "nextjs" ? toNextSnippet(widget, mode) : toSnippet(widget, mode);
  return { steps: PLATFORM_STEPS[platform].steps, snippet, mode, everyPage: toEveryPage(widget, platform, mode) };
}

/**
 * Only the first loader on a page counts, so a plain loader must not come before the one that shows the button. Next.js doesn't
 * reload the page when visitors follow a link, so there every page needs the same loader.
 */
function toEveryPage(widget: InstallWidget, platform: Platform, mode: InstallMode): EveryPage {
  const url = toLoaderUrl(widget);
  if (platform === "nextjs")
    return mode === "float"
      ? { text: "use the component in your root layout. The button then appears on every page." }
      : { text: "add this to your root layout:", code: `<Script src="${url}" />` };
  if (mode === "float")
    return { text: "add this line to every page without the button:", code: `<script async src="${url}"></script>` };
  return { text: "add the first line to every page of your site." };
}

function toNextSnippet(widget: InstallWidget, mode: InstallMode): string {
  const html = toSnippet(widget, mode);
  const source = /src="([^"]+)"/.exec(html)?.[1] ?? "";
  const attributes = [...html.matchAll(/(data-[a-z-]+)="([^"]*)"/g)].map(([, name, value]) => ` ${name}="${value}"`);
  const script = `<Script src="${source}"${mode === "inline" ? "" : [...new Set(attributes)].filter((text) => !text.startsWith(" data-svc-open")).join("")} />`;
  const element =
    mode === "inline"
      ? `\n      {/* @ts-expect-error a custom element */}\n      <svc-booking widget="${widget.id}" />`
      : mode === "popup"
        ? `\n      <button type="button" data-svc-open="${widget.id}">Book now</button>`
        : "";
  return `import Script from "next/script";\n\nexport function Booking() {\n  return (\n    <>\n      ${script}${element}\n    </>\n  );\n}`;
}
