import { Badge, Group, Text } from "@mantine/core";
import type { AppWidget } from "#contract/app/widgets.ts";
import type { WidgetStatus } from "#contract/widgets/widget.ts";
import { formatRelative } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { type Column, Lines, ListTable } from "../ui/tables/ListTable.tsx";
import { ModeBadge } from "./mode/ModeBadge.tsx";
import { STATUS_COLORS, STATUS_NAMES, TEMPLATES } from "./widget-words.ts";

export function WidgetTable({ widgets }: { widgets: readonly AppWidget[] }) {
  const { paths, format } = useOrganization();
  const columns: Column<AppWidget>[] = [
    {
      header: "Widget",
      isBare: true,
      cell: ({ id, name, businessName }) => (
        <Lines first={<TextLink to={paths.widget(id)}>{name}</TextLink>} weight={500} second={businessName || id} />
      ),
    },
    {
      header: "Status",
      cell: (widget) => (
        <Group gap={6}>
          <ModeBadge mode={widget.mode} />
          {widget.status === "paused" && <StatusBadge status={widget.status} />}
        </Group>
      ),
    },
    {
      header: "Store bookings",
      cell: ({ collectData }) => <Badge color={collectData ? "petrol" : "gray"}>{collectData ? "On" : "Off"}</Badge>,
    },
    { header: "Template", isWideOnly: true, cell: ({ template }) => TEMPLATES[template].name },
    {
      header: "Last viewed",
      cell: ({ lastViewAt }) =>
        lastViewAt === null ? (
          <Text span inherit c="dimmed">
            Never
          </Text>
        ) : (
          <span title={format.exact(lastViewAt)}>{formatRelative(lastViewAt)}</span>
        ),
    },
    { header: "Created", isNumeric: true, isWideOnly: true, cell: ({ createdAt }) => format.date(createdAt) },
  ];
  return <ListTable hasRowLinks label="Widgets" columns={columns} rows={widgets} rowKey={({ id }) => id} />;
}

export function StatusBadge({ status }: { status: WidgetStatus }) {
  return <Badge color={STATUS_COLORS[status]}>{STATUS_NAMES[status]}</Badge>;
}
