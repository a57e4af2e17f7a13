import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconChevronDown, IconDownload } from "@tabler/icons-react";
import { DIMENSIONS } from "#contract/dimensions.ts";
import { download } from "../api/call.ts";
import { useIsPhone } from "../hooks/screen-width.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { DIMENSION_WORDS, NAMES_LANGUAGE } from "./breakdowns/dimension-words.ts";
import type { Parameters } from "./report-state.ts";

const TABLES: readonly { label: string; query: Parameters }[] = [
  { label: "Views and bookings by day", query: { table: "daily" } },
  { label: "Funnel", query: { table: "funnel" } },
  ...DIMENSIONS.map((dimension) => ({
    label: DIMENSION_WORDS[dimension].title,
    query: { table: "breakdown", dimension, language: NAMES_LANGUAGE },
  })),
];

export function ExportMenu({ scope, isReady }: { scope: Parameters; isReady: boolean }) {
  const { id } = useOrganization();
  const isPhone = useIsPhone();
  const save = useAction({
    run: (query: Parameters) => download("exportAnalytics", { organization: id, query: { ...scope, ...query } }),
    successMessage: () => "Download started",
  });
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        {isPhone ? (
          <ActionIcon variant="default" size={36} aria-label="Export CSV" disabled={!isReady} loading={save.isPending}>
            <IconDownload size={17} stroke={1.6} />
          </ActionIcon>
        ) : (
          <Button
            variant="default"
            disabled={!isReady}
            loading={save.isPending}
            leftSection={<IconDownload size={17} stroke={1.6} />}
            rightSection={<IconChevronDown size={15} stroke={1.6} />}
          >
            Export CSV
          </Button>
        )}
      </Menu.Target>
      <Menu.Dropdown>
        {TABLES.map(({ label, query }) => (
          <Menu.Item key={label} onClick={() => save.mutate(query)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
