import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { HOME } from "#contract/app/entry-pages.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";

export function LeaveSection() {
  const { id, name, me } = useOrganization();
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const leave = useAction({
    run: () => call("removeMember", { organization: id, params: { userId: me.user.id } }),
    successMessage: () => `You left ${name}`,
    // The start page needs the new list of organizations to pick the next one.
    refreshes: [meKey],
    onDone: () => void navigate({ to: HOME, replace: true }),
  });
  return (
    <Section title={`Leave ${name}`} description="You’ll lose access immediately. The last owner can’t leave.">
      <Button variant="outline" color="red" onClick={() => setOpen(true)}>
        Leave organization
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        title={`Leave ${name}?`}
        confirmLabel="Leave organization"
        typed={{ expected: name, label: `Type ${name} to confirm` }}
        isBusy={leave.isPending}
        onConfirm={() => leave.mutate()}
        onClose={() => setOpen(false)}
      >
        To come back, you’ll need a new invitation.
      </ConfirmDialog>
    </Section>
  );
}
