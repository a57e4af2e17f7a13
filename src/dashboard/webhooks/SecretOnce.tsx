import { Anchor, List, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ShownOnce } from "../ui/copy/ShownOnce.tsx";

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
