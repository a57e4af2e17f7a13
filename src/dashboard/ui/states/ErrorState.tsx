import { Button, Center, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnectedX } from "@tabler/icons-react";
import { ApiFailure, explain } from "../../api/client.ts";

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
