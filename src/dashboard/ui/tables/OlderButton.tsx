import { Button, Center } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";

type Pages = Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;

/** Loads the next page of a list that is sorted newest first; renders nothing at the end. */
export function OlderButton({ query, what }: { query: Pages; what: string }) {
  if (!query.hasNextPage) return null;
  return (
    <Center p="md">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show older {what}
      </Button>
    </Center>
  );
}
