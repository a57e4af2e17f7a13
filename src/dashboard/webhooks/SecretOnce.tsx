import { Anchor, List, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ShownOnce } from "../ui/copy/ShownOnce.tsx";

/** A signing secret, the one time it is shown, and what to do with it. */
export function SecretOnce({ secret, children, onDone }: { secret: string; children?: ReactNode; onDone: () => void }) {
  return (
    <ShownOnce
      intro={
        <Text size="sm">
          {children} Your program needs this secret to check that a request comes from Bookflow. It is shown only now,
          so keep it where your program’s other secrets are.
        </Text>
      }
      label="Signing secret"
      value={secret}
      onDone={onDone}
    >
      <div>
        <Text size="sm" fw={500} mb={4}>
          To verify a request
        </Text>
        <List size="sm" type="ordered" spacing={4}>
          <List.Item>
            Take <code>t</code> and every <code>v1</code> from the header <code>Service-Signature</code>.
          </List.Item>
          <List.Item>
            Refuse it when <code>t</code> is more than five minutes away from your clock.
          </List.Item>
          <List.Item>
            Compute the HMAC-SHA256 of <code>t</code>, a dot and the body as it arrived, with the whole secret as key.
          </List.Item>
          <List.Item>
            Accept it when one <code>v1</code> is equal to that.
          </List.Item>
        </List>
        <Text size="sm" mt="xs">
          <Anchor href="/docs/webhooks#verifying-the-signature" target="_blank">
            The whole recipe, and what the body holds
          </Anchor>
        </Text>
      </div>
    </ShownOnce>
  );
}
