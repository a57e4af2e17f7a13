import { guarded } from "./guarded.ts";
import { startLoader } from "./start.ts";

// The script that page owners paste. It runs once per page, however often it is included.

const OURS = 'script[src$="/loader.js"]';

/** The browser does not say which script runs when it is a module or was evaluated by another script. */
const script = document.currentScript ?? document.querySelector(`${OURS}[data-widget]`) ?? document.querySelector(OURS);

const start = guarded(() => {
  // Browsers without styles that scripts make cannot show the widget.
  if (document.adoptedStyleSheets && !customElements.get("svc-booking")) startLoader(script as HTMLScriptElement);
});

// A page that the browser renders ahead may never be looked at.
if ((document as { prerendering?: boolean }).prerendering) document.addEventListener("prerenderingchange", start);
else start();
