import { Anchor, List, Modal, Radio, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { AppEndpoint, RotatedSecret } from "#contract/app/endpoints.ts";
import {
  SECRET_OVERLAP_HOURS,
  SECRET_OVERLAP_HOURS_DEFAULT,
  type SecretOverlapHours,
} from "#contract/webhooks/endpoint.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { PERSISTENT, ShownOnce } from "../ui/copy/ShownOnce.tsx";
import { ConfirmButton } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";

export function SecretSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can, format } = useOrganization();
  const [overlapHours, setOverlapHours] = useState<SecretOverlapHours>(SECRET_OVERLAP_HOURS_DEFAULT);
  const [rotated, setRotated] = useState<RotatedSecret | null>(null);
  const { secretHint, secretCreatedAt, previousSecretExpiresAt } = endpoint;
  const close = () => setRotated(null);
  return (
    <Section
      title="Signing secret"
      description="Signs every request, so your software can detect forged ones."
      actions={
        <ConfirmButton
          label="Rotate secret"
          button={{ variant: "default", verdict: can("rotateSecret") }}
          title="Rotate signing secret?"
          isDangerous={false}
          action={{
            run: () =>
              call("rotateSecret", { organization: id, params: { endpoint: endpoint.id }, body: { overlapHours } }),
            refreshes: endpointRefreshes(id),
            successMessage: () => "Secret rotated",
            onDone: setRotated,
          }}
        >
          <Stack gap="md">
            <RotationText hasPrevious={previousSecretExpiresAt !== null} />
            <OverlapChoice value={overlapHours} onChange={setOverlapHours} />
          </Stack>
        </ConfirmButton>
      }
    >
      <Text size="sm">
        <code>whsec_…{secretHint}</code>, created {secretCreatedAt && format.dateTime(secretCreatedAt)}
      </Text>
      {previousSecretExpiresAt !== null && (
        <Text size="sm" c="dimmed" mt={4}>
          The old secret stays valid until {format.dateTime(previousSecretExpiresAt)}.
        </Text>
      )}
      <Modal opened={rotated !== null} onClose={close} title="Save the new signing secret" size="lg" {...PERSISTENT}>
        {rotated && (
          <SecretOnce secret={rotated.secret} onDone={close}>
            {rotated.previousSecretExpiresAt === null
              ? "The old secret no longer works."
              : `The old secret stays valid until ${format.dateTime(rotated.previousSecretExpiresAt)}.`}
          </SecretOnce>
        )}
      </Modal>
    </Section>
  );
}

function RotationText({ hasPrevious }: { hasPrevious: boolean }) {
  return (
    <Text size="sm">
      You’ll get a new secret. During the overlap, requests are signed with both the old and the new secret, so you have
      time to update your software.
      {hasPrevious && " The secret from the previous rotation stops working immediately."}
    </Text>
  );
}

type OverlapChoiceProps = { value: SecretOverlapHours; onChange: (hours: SecretOverlapHours) => void };

function OverlapChoice({ value, onChange }: OverlapChoiceProps) {
  return (
    <Radio.Group
      label="Overlap"
      value={String(value)}
      onChange={(chosen) => onChange(SECRET_OVERLAP_HOURS.find((hours) => String(hours) === chosen) ?? value)}
    >
      <Stack gap="xs" mt="xs">
        {SECRET_OVERLAP_HOURS.map((hours) => (
          <Radio key={hours} value={String(hours)} label={OVERLAPS[hours]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

const OVERLAPS: Record<SecretOverlapHours, string> = {
  0: "None (if the secret has leaked)",
  1: "1 hour",
  24: "24 hours",
  168: "7 days",
};

export function SecretOnce({ secret, children, onDone }: { secret: string; children?: ReactNode; onDone: () => void }) {
  return (
    <ShownOnce
      intro={
        <Text size="sm">
          {children} Your software uses this secret to verify that a request comes from Bookflow. Copy it now. It won’t
          be shown again.
        </Text>
      }
      label="Signing secret"
      value={secret}
      onDone={onDone}
    >
      <div>
        <Text size="sm" fw={500} mb={4}>
          How to verify a request
        </Text>
        <List size="sm" type="ordered" spacing={4}>
          <List.Item>
            Read <code>t</code> and every <code>v1</code> from the <code>Service-Signature</code> header.
          </List.Item>
          <List.Item>
            Reject the request if <code>t</code> differs from your clock by more than five minutes.
          </List.Item>
          <List.Item>
            Compute the HMAC-SHA256 of <code>t</code>, a dot and the raw body, with the whole secret as the key.
          </List.Item>
          <List.Item>
            Accept the request if one <code>v1</code> matches.
          </List.Item>
        </List>
        <Text size="sm" mt="xs">
          You can also verify requests with a Standard Webhooks library and this secret.{" "}
          <Anchor href="/docs/webhooks#verifying-the-signature" target="_blank">
            Read the webhook guide
          </Anchor>
        </Text>
      </div>
    </ShownOnce>
  );
}
