import { Alert, Button, Group } from "@mantine/core";
import { IconRefreshAlert } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import { ApiFailure } from "../../api/client.ts";

/** Warns that a refresh failed and the data may be out of date; renders nothing otherwise. */
export function StaleNotice({ query }: { query: Pick<UseQueryResult, "data" | "error" | "refetch" | "isFetching"> }) {
  const { data, error } = query;
  if (data === undefined || !error) return null;
  return (
    <Alert color="yellow" variant="light" mb="lg" icon={<IconRefreshAlert size={20} stroke={1.6} />} role="alert">
      <Group justify="space-between" gap="sm">
        <span>
          This page may be out of date. {error instanceof ApiFailure ? error.message : "Refreshing it failed."}
        </span>
        <Button size="xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}
