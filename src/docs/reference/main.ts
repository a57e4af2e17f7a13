import "./reference.css";
import { showMatchesWhileTyping } from "../search/live-search.ts";

showMatchesWhileTyping(document);

type Scalar = { createApiReference(place: string, configuration: object): void };

// Scalar's own file defines this global and runs first.
const { Scalar } = window as unknown as { Scalar: Scalar };

// Scalar contacts nobody but us: its fonts, telemetry, developer tools, assistants and request client are off. The
// request client would also put API keys into a browser, where they do not belong.
Scalar.createApiReference("#reference", {
  url: "/api/v1/openapi.json",
  theme: "none",
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideTestRequestButton: true,
  hideClientButton: true,
  // The page’s header has the search.
  hideSearch: true,
  // Only the examples in the OpenAPI document, which work as they are.
  hiddenClients: true,
  mcp: { disabled: true },
  agent: { disabled: true },
  persistAuth: false,
  // The page follows the system's scheme, like the guides.
  hideDarkModeToggle: true,
  // So that the menu lists every operation.
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: "preserve",
  orderRequiredPropertiesFirst: false,
  modelsSectionLabel: "Schemas",
  documentDownloadType: "direct",
});
