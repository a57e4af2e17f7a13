import { Badge, Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SignIn } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { signInsQuery } from "../api/queries.ts";
import { formatRelative } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmAction } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { BUTTONS, type Column, ListTable } from "../ui/tables/ListTable.tsx";

/** One session, or all but this browser's. */
type Sessions = SignIn | "others";

export function SignInsSection() {
  const { format } = useOrganization();
  const signIns = useQuery(signInsQuery);
  const [ending, setEnding] = useState<Sessions | null>(null);
  const columns: Column<SignIn>[] = [
    {
      header: "Browser",
      isBare: true,
      cell: (row) => (
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {row.browser}
          </Text>
          {row.isCurrent && <Badge color="green">This browser</Badge>}
        </Group>
      ),
    },
    {
      header: "Last used",
      isShort: true,
      // The server updates lastUsedAt only now and then.
      cell: (row) =>
        row.isCurrent ? "Now" : <span title={format.exact(row.lastUsedAt)}>{formatRelative(row.lastUsedAt)}</span>,
    },
    { header: "Signed in", isShort: true, cell: (row) => format.dateTime(row.createdAt) },
    { header: "Expires", isShort: true, isWideOnly: true, cell: (row) => format.date(row.expiresAt) },
    {
      ...BUTTONS,
      cell: (row) =>
        !row.isCurrent && (
          <Button size="xs" variant="default" aria-label={`Sign out ${row.browser}`} onClick={() => setEnding(row)}>
            Sign out
          </Button>
        ),
    },
  ];
  const hasOthers = signIns.data?.data.some((row) => !row.isCurrent) ?? false;
  return (
    <Section
      title="Sessions"
      description="Browsers where you’re signed in. Sign out any session you don’t recognise, then change your password."
      isFlush
      actions={
        <Button variant="default" disabled={!hasOthers} onClick={() => setEnding("others")}>
          Sign out other sessions
        </Button>
      }
    >
      <Loaded query={signIns} rows={2}>
        {({ data }) => <ListTable label="Sessions" columns={columns} rows={data} rowKey={(row) => row.id} />}
      </Loaded>
      <SignOutDialog which={ending} onClose={() => setEnding(null)} />
    </Section>
  );
}

function SignOutDialog({ which, onClose }: { which: Sessions | null; onClose: () => void }) {
  return (
    <ConfirmAction
      subject={which}
      title={which === "others" ? "Sign out all other sessions?" : "Sign out this session?"}
      confirmLabel={which === "others" ? "Sign out other sessions" : "Sign out session"}
      action={{
        run: (ended) =>
          ended === "others" ? call("endOtherSignIns", {}) : call("endSignIn", { params: { id: ended.id } }),
        refreshes: [signInsQuery.queryKey],
        successMessage: (_, ended) => (ended === "others" ? "All other sessions signed out" : "Session signed out"),
      }}
      onClose={onClose}
    >
      {which === "others"
        ? "You’ll be signed out everywhere except in this browser."
        : `${which?.browser ?? "This browser"} will be signed out immediately.`}
    </ConfirmAction>
  );
}
