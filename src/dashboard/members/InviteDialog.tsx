import { Modal, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { InvitationMail } from "#contract/app/account.ts";
import { INVITATION_DAYS } from "#contract/app/limits.ts";
import { ROLES_OF_MEMBERS } from "#contract/app/role.ts";
import { call } from "../api/call.ts";
import { invitationsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ShownOnce, STAYS_OPEN } from "../ui/copy/ShownOnce.tsx";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { ROLE_MEANINGS, ROLE_NAMES } from "./role-words.ts";

type Handed = { link: string; intro: string };

/** Where the service sends mail, the link is mailed; otherwise, or if that fails, it is shown here once, to be handed over. */
export function InviteDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { name } = useOrganization();
  const [handed, setHanded] = useState<Handed | null>(null);
  const close = () => {
    setHanded(null);
    onClose();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={handed === null ? `Invite somebody to ${name}` : "Hand over this link"}
      {...(handed === null ? {} : STAYS_OPEN)}
    >
      {handed === null ? (
        <InviteForm onClose={close} onHanded={setHanded} />
      ) : (
        <ShownOnce
          intro={
            <Text size="sm">
              {handed.intro} It works once, for {INVITATION_DAYS} days, and is shown only now.
            </Text>
          }
          label="Invitation link"
          value={handed.link}
          doneLabel="Done"
          onDone={close}
        />
      )}
    </Modal>
  );
}

/** Why the link is not on its way by mail. */
const INTROS: Readonly<Record<Exclude<InvitationMail, "sent">, string>> = {
  off: "This service sends no mail, so give the link to the person yourself.",
  failed: "The mail could not be sent, so give the link to the person yourself.",
};

function InviteForm({ onClose, onHanded }: { onClose: () => void; onHanded: (handed: Handed) => void }) {
  const { id, can } = useOrganization();
  const form = useForm({ initialValues: { email: "", role: "member" } });
  const invite = useAction({
    run: (values: { email: string; role: string }) => call("invite", { organization: id, body: values }),
    form,
    isQuiet: true,
    refreshes: [invitationsQuery(id).queryKey],
    says: ({ invitation }) => `${invitation.email} is invited.`,
    onDone: ({ link, mail }) =>
      link === null || mail === "sent" ? onClose() : onHanded({ link, intro: INTROS[mail] }),
  });
  const roles = ROLES_OF_MEMBERS.filter((role) => role !== "owner" || can("changeOwner").isAllowed);
  return (
    <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
      <Stack gap="md">
        <FormFault error={invite.error} />
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps("email")}
        />
        <Radio.Group label="Role" {...form.getInputProps("role")}>
          <Stack gap="sm" mt="xs">
            {roles.map((role) => (
              <Radio key={role} value={role} label={ROLE_NAMES[role]} description={ROLE_MEANINGS[role]} />
            ))}
          </Stack>
        </Radio.Group>
        <FormButtons label="Invite" isBusy={invite.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
