import "./guides.css";
import { addCopyButtons } from "./copy-buttons.ts";
import { showMatchesWhileTyping } from "./live-search.ts";

addCopyButtons(document);
showMatchesWhileTyping(document);
