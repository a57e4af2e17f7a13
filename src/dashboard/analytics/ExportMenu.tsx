import { Button, Menu } from "@mantine/core";
import { IconChevronDown, IconDownload } from "@tabler/icons-react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { type AnalyticsFilters, toAnalyticsParameters } from "../api/analytics.ts";
import { download } from "../api/download.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";

const TABLES = [
  ["daily", "Views and bookings by day"],
  ["funnel", "Funnel"],
  ["channels", "Channels"],
  ["sources", "Sources"],
  ["campaigns", "Campaigns"],
] as const;

/** Downloads a table of the report, with the current period and widget. */
export function ExportMenu({ filters, report }: { filters: AnalyticsFilters; report: AppAnalytics | undefined }) {
  const { id } = useOrganization();
  const save = useAction({
    run: (table: string) =>
      download("exportAnalytics", { organization: id, query: { ...toAnalyticsParameters(filters), table } }),
    says: () => "Download started",
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          disabled={!report}
          loading={save.isPending}
          leftSection={<IconDownload size={17} stroke={1.6} />}
          rightSection={<IconChevronDown size={15} stroke={1.6} />}
        >
          Export CSV
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {TABLES.map(([table, label]) => (
          <Menu.Item key={table} onClick={() => save.mutate(table)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
