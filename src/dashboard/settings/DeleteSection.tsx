import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { HOME } from "#contract/app/entry-pages.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";

export function DeleteSection() {
  const { id, name, can } = useOrganization();
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const remove = useAction({
    run: () => call("deleteOrganization", { organization: id, body: { name } }),
    successMessage: () => `${name} deleted`,
    refreshes: [meKey],
    onDone: () => void navigate({ to: HOME, replace: true }),
  });
  return (
    <Section
      title={`Delete ${name}`}
      description="Deletes all widgets, bookings, analytics, endpoints, keys and memberships. This can’t be undone."
    >
      <ActionButton variant="outline" color="red" verdict={can("deleteOrganization")} onClick={() => setOpen(true)}>
        Delete organization
      </ActionButton>
      <ConfirmDialog
        isOpen={isOpen}
        title={`Delete ${name}?`}
        confirmLabel="Delete organization"
        typed={{ expected: name, label: `Type ${name} to confirm` }}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={() => setOpen(false)}
      >
        Widgets on your pages stop working at once, and nothing can be restored. Appointments stay in your scheduling
        system, and people keep their accounts.
      </ConfirmDialog>
    </Section>
  );
}
