import { Modal, Text } from "@mantine/core";
import { useState } from "react";
import type { AppEndpoint, RotatedSecret } from "#contract/app/endpoints.ts";
import { SIGNING_SECRET_OVERLAP_HOURS } from "#contract/endpoint.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/endpoints.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { STAYS_OPEN } from "../ui/copy/ShownOnce.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { SecretOnce } from "./SecretOnce.tsx";

export function SecretSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can, format } = useOrganization();
  const [isAsking, setAsking] = useState(false);
  const [rotated, setRotated] = useState<RotatedSecret | null>(null);
  const rotate = useAction({
    run: () => call("rotateSecret", { organization: id, params: { endpoint: endpoint.id } }),
    refreshes: endpointRefreshes(id),
    says: () => "The signing secret is rotated.",
    onDone: (answer) => {
      setAsking(false);
      setRotated(answer);
    },
  });
  const { secretHint, secretCreatedAt, previousSecretExpiresAt } = endpoint;
  const close = () => setRotated(null);
  return (
    <Section
      title="Signing secret"
      description="Every request is signed with it, so that your program can tell ours from forged ones."
      actions={
        <ActionButton variant="default" verdict={can("rotateSecret")} onClick={() => setAsking(true)}>
          Rotate
        </ActionButton>
      }
    >
      <Text size="sm">
        <code>whsec_…{secretHint}</code>, made on {format.dateTime(secretCreatedAt)}.
      </Text>
      {previousSecretExpiresAt !== null && (
        <Text size="sm" c="dimmed" mt={4}>
          The secret before it signs too, until {format.dateTime(previousSecretExpiresAt)}.
        </Text>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        title="Rotate the signing secret?"
        confirmLabel="Rotate"
        isDangerous={false}
        isBusy={rotate.isPending}
        onConfirm={() => rotate.mutate()}
        onClose={() => setAsking(false)}
      >
        You get a new secret. For {SIGNING_SECRET_OVERLAP_HOURS} hours every request carries two signatures, of the new
        and of the old secret, so nothing is lost while you change your program. After that only the new one signs.
        {previousSecretExpiresAt !== null && " The secret from the rotation before stops signing at once."}
      </ConfirmDialog>
      <Modal opened={rotated !== null} onClose={close} title="Keep the new signing secret" size="lg" {...STAYS_OPEN}>
        {rotated && (
          <SecretOnce secret={rotated.secret} onDone={close}>
            The old secret signs too until {format.dateTime(rotated.previousSecretExpiresAt)}.
          </SecretOnce>
        )}
      </Modal>
    </Section>
  );
}
