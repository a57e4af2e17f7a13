import { Group, Loader, Text, ThemeIcon } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { AppWidget } from "#contract/app/widgets.ts";
import { widgetQuery } from "../../api/widgets.ts";
import { formatRelative } from "../../format.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ButtonLink } from "../../ui/layout/links.tsx";
import { Section } from "../../ui/layout/Section.tsx";

const ASK_MS = 3_000;

/** Whether a visitor's browser has shown the widget yet; asked again and again until it has. */
export function InstallCheck({ widget }: { widget: AppWidget }) {
  const { id, paths, format } = useOrganization();
  useQuery({ ...widgetQuery(id, widget.id), refetchInterval: widget.firstViewAt === null ? ASK_MS : false });
  const { firstViewAt, lastViewAt } = widget;
  return (
    <Section title="Installation check">
      <Group gap="md" wrap="nowrap" role="status" align="flex-start">
        {firstViewAt === null ? (
          <Loader size={28} type="dots" aria-hidden />
        ) : (
          <ThemeIcon color="green" variant="light" size={32} radius="xl" aria-hidden>
            <IconCheck size={18} />
          </ThemeIcon>
        )}
        {firstViewAt === null ? (
          <div>
            <Text fw={500}>Waiting for the first view …</Text>
            <Text size="sm" c="dimmed">
              Open the page with the snippet in your browser. This line changes by itself, a moment after the widget is
              shown. An ad blocker or an address that is not among the allowed domains can keep it from showing.
            </Text>
          </div>
        ) : (
          <div>
            <Text fw={500}>It works: first view seen at {format.dateTime(firstViewAt)}</Text>
            <Text size="sm" c="dimmed">
              {lastViewAt !== null && `Last seen ${formatRelative(lastViewAt)}. `}First of the views that are still
              kept.
            </Text>
            <ButtonLink to={paths.analytics} search={{ widget: widget.id }} variant="default" size="xs" mt="sm">
              Look at its analytics
            </ButtonLink>
          </div>
        )}
      </Group>
    </Section>
  );
}
