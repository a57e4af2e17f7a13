import "@mantine/core/styles.layer.css";
import "@mantine/notifications/styles.layer.css";
import "./base.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { ApiFailure } from "./api/client.ts";
import { router } from "./routes.tsx";
import { cssVariables, theme } from "./theme.ts";

const FRESH_MS = 10_000;
const RETRY_DELAY_MS = 700;

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

function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // Show a failure at once even if the browser thinks it is offline, instead of waiting silently.
        networkMode: "always",
        refetchOnReconnect: "always",
        // Refusals are final; temporary failures are tried once more.
        retry: (count, error) => count < 1 && (!(error instanceof ApiFailure) || isTemporary(error)),
        retryDelay: RETRY_DELAY_MS,
      },
      mutations: { networkMode: "always" },
    },
  });
}

function isTemporary({ status }: ApiFailure): boolean {
  return status === 0 || status >= 500;
}
