import { Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { AuditEntry } from "#contract/app/audit.ts";
import { auditQuery } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { StaleNotice } from "../ui/states/StaleNotice.tsx";
import { type Column, DataTable } from "../ui/tables/DataTable.tsx";
import { OlderButton } from "../ui/tables/OlderButton.tsx";
import { describeAction, describeDetail, describeTarget } from "./audit-words.ts";

export function AuditPage() {
  const { can } = useOrganization();
  const verdict = can("readAudit");
  return (
    <Page
      title="Audit log"
      description="Everything that changed who may do what, or that deleted or exported data. Nothing in it can be changed."
    >
      <LockedFeature verdict={verdict} title="The audit log is out of reach for you" />
      {verdict.isAllowed && <Entries />}
    </Page>
  );
}

function Entries() {
  const { id, name, details, format } = useOrganization();
  const entries = useInfiniteQuery(auditQuery(id));
  const columns: Column<AuditEntry>[] = [
    {
      header: "What",
      isBare: true,
      cell: ({ action, detail }) => (
        <>
          <Text size="sm" fw={500}>
            {describeAction(action)}
          </Text>
          <Text size="xs" c="dimmed">
            {describeDetail(detail, format)}
          </Text>
        </>
      ),
    },
    { header: "Whom or what", cell: (row) => <Target {...describeTarget(row, { id, name })} /> },
    { header: "Who", width: "11rem", cell: ({ actor }) => actor.name ?? actor.email ?? "The operator" },
    {
      header: "When",
      isShort: true,
      isNumeric: true,
      cell: ({ at }) => <span title={format.exact(at)}>{format.dateTime(at)}</span>,
    },
  ];
  return (
    <>
      <StaleNotice query={entries} />
      <Section title="Entries" description={`Newest first. Times are those of ${details.timeZone}.`} isFlush>
        <Loaded query={entries} rows={8}>
          {({ pages }) => {
            const rows = pages.flatMap((page) => page.data);
            if (rows.length === 0) return <EmptyState icon={IconHistory} title="Nothing has happened yet" />;
            return <DataTable label="Audit log" columns={columns} rows={rows} rowKey={(row) => row.id} />;
          }}
        </Loaded>
        <OlderButton query={entries} what="entries" />
      </Section>
    </>
  );
}

function Target({ name, id }: { name: string; id: string | null }) {
  return (
    <div>
      <Text size="sm">{name}</Text>
      {id !== null && (
        <Text size="xs" c="dimmed">
          {id}
        </Text>
      )}
    </div>
  );
}
