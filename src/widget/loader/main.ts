import { guarded } from "./guarded.ts";
import { startLoader } from "./start.ts";

// The script that page owners paste. It runs once per page, however often it is included.

const OURS = 'script[src$="/loader.js"]';

/** `document.currentScript` is null in modules and in scripts that another script evaluates. */
const script = document.currentScript ?? document.querySelector(`${OURS}[data-widget]`) ?? document.querySelector(OURS);

const start = guarded(() => {
  // Browsers without constructable stylesheets cannot show the widget. The script is the tag that loaded this file.
  if (document.adoptedStyleSheets && !customElements.get("svc-booking")) startLoader(script as HTMLScriptElement);
});

// Nobody may ever see a prerendered page. Not every browser has the property.
if ((document as { prerendering?: boolean }).prerendering) document.addEventListener("prerenderingchange", start);
else start();
