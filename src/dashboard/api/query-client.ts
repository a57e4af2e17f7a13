import { QueryClient } from "@tanstack/react-query";
import { ApiFailure } from "./client.ts";

const FRESH_MS = 10_000;
const RETRY_DELAY_MS = 700;

export function createQueryClient(): QueryClient {
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
