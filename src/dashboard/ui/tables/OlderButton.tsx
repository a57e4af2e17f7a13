import { Button, Center } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";

type Pages = Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;

/** Loads the next page of a list; renders nothing at the end. `more`: the list is not sorted newest first. */
export function OlderButton({ query, what, are = "older" }: { query: Pages; what: string; are?: "older" | "more" }) {
  if (!query.hasNextPage) return null;
  return (
    <Center p="md">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show {are} {what}
      </Button>
    </Center>
  );
}
