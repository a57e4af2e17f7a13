import { getDefaultZIndex, Modal, Stack, Text } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { Me } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { forgetSessionEnd, readSessionEnd, watchSessionEnd } from "../api/session-end.ts";
import { OidcButton, SignInForm } from "../entry/SignInForm.tsx";

/** Signing in right here keeps what was typed; the screen behind is covered until then. */
export function SessionEnd() {
  const isEnded = useSyncExternalStore(watchSessionEnd, readSessionEnd);
  // Every open dialog listens on the window, also those behind this one. Root mounts this component first, so it comes before them.
  useWindowEvent("keydown", (event) => isEnded && event.key === "Escape" && event.stopImmediatePropagation(), {
    capture: true,
  });
  const queries = useQueryClient();
  const before = queries.getQueryData<Me>(meKey);
  const resume = async () => {
    const after = await call("getMe", {}).catch(() => null);
    // Another person must not see the previous person's screens.
    if (!after || after.user.id !== before?.user.id) return window.location.reload();
    forgetSessionEnd();
    await queries.invalidateQueries();
  };
  return (
    <Modal
      opened={isEnded}
      // Above dialogs and menus that were open.
      zIndex={getDefaultZIndex("overlay")}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="You’ve been signed out"
      overlayProps={{ backgroundOpacity: 1, color: "var(--mantine-color-body)" }}
    >
      <Stack gap="md">
        {before?.user.hasPassword === false ? (
          <>
            <Text size="sm">Your session has ended. Sign in to return to this page.</Text>
            <OidcButton returnPath={window.location.pathname + window.location.search} />
          </>
        ) : (
          <>
            <Text size="sm">
              Your session has ended. Sign in to continue where you left off. Nothing you typed is lost.
            </Text>
            <SignInForm email={before?.user.email ?? ""} onSignedIn={() => void resume()} />
          </>
        )}
      </Stack>
    </Modal>
  );
}
