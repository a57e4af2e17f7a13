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

/** Polls until a browser has shown the widget on the business's site. */
export function InstallCheck({ widget }: { widget: AppWidget }) {
  const { id, paths, format } = useOrganization();
  useQuery({ ...widgetQuery(id, widget.id), refetchInterval: widget.seenOn === null ? ASK_MS : false });
  const { firstViewAt, lastViewAt, seenOn } = widget;
  return (
    <Section title="Installation check">
      <Group gap="md" wrap="nowrap" role="status" align="flex-start">
        {seenOn === null ? (
          <Loader size={28} type="dots" aria-hidden />
        ) : (
          <ThemeIcon color="green" variant="light" size={32} radius="xl" aria-hidden>
            <IconCheck size={18} />
          </ThemeIcon>
        )}
        {seenOn === null ? (
          <div>
            <Text fw={500}>Waiting for the first view on your site…</Text>
            <Text size="sm" c="dimmed">
              Open the page with the snippet in your browser. This updates a moment after the widget appears. If nothing
              happens, check your ad blocker and the allowed domains.
              {firstViewAt !== null && " Views of the booking page don’t count here."}
            </Text>
          </div>
        ) : (
          <div>
            <Text fw={500}>Installed on {seenOn}</Text>
            <Text size="sm" c="dimmed">
              {firstViewAt !== null && `First viewed on ${format.dateTime(firstViewAt)}.`}
              {lastViewAt !== null && ` Last viewed ${formatRelative(lastViewAt)}.`}
            </Text>
            <ButtonLink to={paths.analytics} search={{ widget: widget.id }} variant="default" size="xs" mt="sm">
              View analytics
            </ButtonLink>
          </div>
        )}
      </Group>
    </Section>
  );
}
