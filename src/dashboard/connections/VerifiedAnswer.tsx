import { Alert } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import type { VerifiedConnection } from "#contract/app/connections.ts";
import { formatZone } from "../format.ts";
import { ConnectionNotes } from "./ConnectionNotes.tsx";

export function VerifiedAnswer({ verified }: { verified: VerifiedConnection }) {
  const { businessName, timeZone, warnings } = verified;
  return (
    <>
      <Alert color="green" variant="light" icon={<IconCheck size={20} />} title="Connection works">
        Connected to “{businessName}”{timeZone !== null && ` (${formatZone(timeZone)})`}.
      </Alert>
      <ConnectionNotes notes={warnings} />
    </>
  );
}
