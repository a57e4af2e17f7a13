import { QueryClient } from "@tanstack/react-query";
import { ApiFailure } from "./client.ts";

const FRESH_MS = 10_000;
const RETRY_DELAY_MS = 700;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // A failure is shown at once, also when the browser believes to be offline, instead of waiting without a word.
        networkMode: "always",
        refetchOnReconnect: "always",
        // A refusal stays one; what may pass by itself is tried once more.
        retry: (count, error) => count < 1 && (!(error instanceof ApiFailure) || isPassing(error)),
        retryDelay: RETRY_DELAY_MS,
      },
      mutations: { networkMode: "always" },
    },
  });
}

function isPassing({ status }: ApiFailure): boolean {
  return status === 0 || status >= 500;
}
