import { Button, Center, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { type Icon, IconSearchOff } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ButtonLink } from "../layout/links.tsx";

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

export function NoMatches({ onClear, children }: { onClear: () => void; children?: ReactNode }) {
  return (
    <EmptyState
      icon={IconSearchOff}
      title="No matches"
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      {children ?? "Try another filter or a longer period."}
    </EmptyState>
  );
}

type NotFoundNoteProps = {
  icon: Icon;
  title: string;
  list: { to: string; label: string; search?: Record<string, string> };
  children?: ReactNode;
};

export function NotFoundNote({ icon, title, list, children }: NotFoundNoteProps) {
  const link = (
    <ButtonLink to={list.to} search={list.search ?? {}} variant="default">
      {list.label}
    </ButtonLink>
  );
  return (
    <EmptyState icon={icon} title={title} action={link}>
      {children}
    </EmptyState>
  );
}
