import type { Change } from "#contract/change.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Section } from "../ui/layout/Section.tsx";
import { type Column, ListTable } from "../ui/tables/ListTable.tsx";
import { CHANGE_NAMES } from "./booking-words.ts";

export function ChangesSection({ changes }: { changes: readonly Change[] }) {
  const { format } = useOrganization();
  if (changes.length === 0) return null;
  const columns: Column<Change>[] = [
    { header: "Change", isBare: true, cell: ({ type }) => CHANGE_NAMES[type] },
    { header: "From", cell: ({ previousStart }) => format.dateTime(previousStart) },
    { header: "To", cell: ({ type, start }) => (type === "rescheduled" ? format.dateTime(start) : "–") },
    { header: "Noticed", isNumeric: true, cell: ({ changedAt }) => format.dateTime(changedAt) },
  ];
  return (
    <Section title="History" description="Changes in the scheduling system since it was booked.">
      <ListTable label="History" columns={columns} rows={changes} rowKey={({ changedAt }) => changedAt} />
    </Section>
  );
}
