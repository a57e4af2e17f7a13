import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import "./base.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/query-client.ts";
import { router } from "./routes.tsx";
import { cssVariables, theme } from "./theme.ts";

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
// react-remove-scroll, which locks the page behind dialogs, looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={createQueryClient()}>
        <Notifications position="bottom-right" limit={4} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  );
