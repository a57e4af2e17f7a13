import { Center, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import type { Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";

type EmptyStateProps = { icon: Icon; title: string; children?: ReactNode; action?: ReactNode };

export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <Center py="xl" px="md">
      <Stack align="center" gap="xs" maw="26rem" ta="center">
        <ThemeIcon variant="light" size={48} radius="xl" aria-hidden>
          <Icon size={24} stroke={1.6} />
        </ThemeIcon>
        <Title order={2} size="h3" mt="xs">
          {title}
        </Title>
        {children && (
          <Text c="dimmed" size="sm" component="div">
            {children}
          </Text>
        )}
        {action && <div style={{ marginTop: "0.75rem" }}>{action}</div>}
      </Stack>
    </Center>
  );
}
