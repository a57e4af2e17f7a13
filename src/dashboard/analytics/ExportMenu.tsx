import { Menu } from "@mantine/core";
import { IconChevronDown, IconDownload } from "@tabler/icons-react";
import { DIMENSIONS } from "#contract/analytics/dimensions.ts";
import { useDownload } from "../ui/forms/ActionButton.tsx";
import { DIMENSION_WORDS, NAMES_LANGUAGE } from "./breakdowns/dimension-words.ts";
import { HeaderButton } from "./HeaderButton.tsx";
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
  const save = useDownload("exportAnalytics");
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <HeaderButton
          icon={IconDownload}
          label="Export CSV"
          disabled={!isReady}
          loading={save.isPending}
          rightSection={<IconChevronDown size={15} stroke={1.6} />}
        />
      </Menu.Target>
      <Menu.Dropdown>
        {TABLES.map(({ label, query }) => (
          <Menu.Item key={label} onClick={() => save.mutate({ ...scope, ...query })}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
