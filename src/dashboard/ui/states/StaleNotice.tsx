import { Alert, Button, Group } from "@mantine/core";
import { IconRefreshAlert } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import { ApiFailure } from "../../api/client.ts";

/** What is shown is from before, because reading it again failed. Nothing while all is well. */
export function StaleNotice({ query }: { query: Pick<UseQueryResult, "data" | "error" | "refetch" | "isFetching"> }) {
  const { data, error } = query;
  if (data === undefined || !error) return null;
  return (
    <Alert color="yellow" variant="light" mb="lg" icon={<IconRefreshAlert size={20} stroke={1.6} />} role="alert">
      <Group justify="space-between" gap="sm">
        <span>
          What you see may be out of date. {error instanceof ApiFailure ? error.message : "It could not be read again."}
        </span>
        <Button size="xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}
