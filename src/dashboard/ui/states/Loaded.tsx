import { Alert, Button, Center, Group, Paper, Skeleton, Stack, Text, ThemeIcon, VisuallyHidden } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnectedX, IconRefreshAlert } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiFailure, explain, isNotFound } from "../../api/client.ts";

type LoadedProps<Data> = {
  query: Pick<UseQueryResult<Data>, "data" | "error" | "refetch">;
  /** Number of placeholder rows while loading; `placeholder` replaces them. */
  rows?: number;
  placeholder?: ReactNode;
  /** Instead of the error if it doesn't exist, or no longer does. */
  missing?: ReactNode;
  children: (data: Data) => ReactNode;
};

/** The states of a query: loading, failed, loaded. Loaded data stays on screen during a refresh. */
export function Loaded<Data>({ query, rows = 5, placeholder, missing, children }: LoadedProps<Data>) {
  if (missing && isNotFound(query.error)) return missing;
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return placeholder ?? <LoadingRows count={rows} />;
}

/** Warns that a refresh failed and the data may be out of date; renders nothing otherwise, or if the data is gone. */
export function StaleNotice({ query }: { query: Pick<UseQueryResult, "data" | "error" | "refetch" | "isFetching"> }) {
  const { data, error } = query;
  if (data === undefined || !error || isNotFound(error)) return null;
  return (
    <Alert color="yellow" mb="lg" icon={<IconRefreshAlert size={20} stroke={1.6} />} role="alert">
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

export function ErrorState({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const isUnreachable = error instanceof ApiFailure && error.status === 0;
  const Icon = isUnreachable ? IconPlugConnectedX : IconAlertTriangle;
  return (
    <Center py="xl" px="md" role="alert">
      <Stack align="center" gap="sm" maw="26rem" ta="center">
        <ThemeIcon variant="light" color="red" size={48} radius="xl" aria-hidden>
          <Icon size={24} stroke={1.6} />
        </ThemeIcon>
        <Text>{explain(error)}</Text>
        {onRetry && (
          <Button variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Center>
  );
}

const ROW_HEIGHT = 36;

export function LoadingRows({ count = 5 }: { count?: number }) {
  return (
    <div role="status">
      <VisuallyHidden>Loading…</VisuallyHidden>
      <Stack gap={8} px={{ base: "md", sm: "lg" }} py="md" aria-hidden>
        {Array.from({ length: count }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
          <Skeleton key={index} height={ROW_HEIGHT} radius="sm" />
        ))}
      </Stack>
    </div>
  );
}

export function LoadingCard() {
  return (
    <Paper bg="var(--surface)" bd="1px solid var(--border)" py="xs">
      <LoadingRows count={7} />
    </Paper>
  );
}
