import "./guides.css";
import { showMatchesWhileTyping } from "../search/live-search.ts";
import { addCopyButtons } from "./copy-buttons.ts";

addCopyButtons(document);
showMatchesWhileTyping(document);
