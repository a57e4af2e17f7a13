import { Modal, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { Me } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { forgetSessionEnd, readSessionEnd, watchSessionEnd } from "../api/session-end.ts";
import { SignInForm } from "../entry/SignInForm.tsx";

/**
 * The session ended while somebody was working: signed out in another tab, ended from another device, or too old. They sign in
 * again right here, so that what they were typing is not lost; what they were looking at is covered until then.
 */
export function SessionEnd() {
  const isEnded = useSyncExternalStore(watchSessionEnd, readSessionEnd);
  const queries = useQueryClient();
  const before = queries.getQueryData<Me>(meKey);
  const goOn = async () => {
    const after = await call("getMe", {}).catch(() => null);
    // Somebody else's screens must not be filled with what this one was looking at.
    if (!after || after.user.id !== before?.user.id) return window.location.reload();
    forgetSessionEnd();
    await queries.invalidateQueries();
  };
  return (
    <Modal
      opened={isEnded}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="You have been signed out"
      overlayProps={{ backgroundOpacity: 1, color: "var(--mantine-color-body)" }}
    >
      <Stack gap="md">
        <Text size="sm">
          Your session has ended, perhaps in another tab or from another device. Sign in to go on where you were;
          nothing you typed is lost.
        </Text>
        <SignInForm email={before?.user.email ?? ""} onSignedIn={() => void goOn()} />
      </Stack>
    </Modal>
  );
}
