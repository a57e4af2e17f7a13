import { Badge, Button, Group, Modal, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Me } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { PERSISTENT, ShownOnce } from "../ui/copy/ShownOnce.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { PasswordDialog } from "./PasswordDialog.tsx";
import { TwoFactorSetUp } from "./TwoFactorSetUp.tsx";

type Open = "set-up" | "turn-off" | "new-codes" | null;

export function TwoFactorSection({ user }: { user: Me["user"] }) {
  const [open, setOpen] = useState<Open>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const queries = useQueryClient();
  const close = () => setOpen(null);
  return (
    <Section
      title="Two-factor authentication"
      description="Requires a code from your phone in addition to your password."
      actions={user.isTwoFactorOn ? <Badge color="green">On</Badge> : <Badge color="gray">Off</Badge>}
    >
      <TwoFactorButtons user={user} onOpen={setOpen} />
      <TwoFactorSetUp
        isOpen={open === "set-up"}
        onClose={close}
        onDone={(created) => {
          close();
          setCodes(created);
          void queries.invalidateQueries({ queryKey: meKey });
        }}
      />
      <PasswordDialog
        isOpen={open === "turn-off"}
        title="Turn off two-factor authentication?"
        confirmLabel="Turn off two-factor authentication"
        isDangerous
        run={(password) => call("disableTwoFactor", { body: { password } })}
        successMessage="Two-factor authentication turned off"
        onClose={close}
        onDone={() => {
          close();
          void queries.invalidateQueries({ queryKey: meKey });
        }}
      >
        You’ll sign in with your password only. Your recovery codes will stop working.
      </PasswordDialog>
      <PasswordDialog
        isOpen={open === "new-codes"}
        title="Create new recovery codes?"
        confirmLabel="Create codes"
        run={(password) => call("createRecoveryCodes", { body: { password } })}
        onClose={close}
        onDone={({ backupCodes }) => {
          close();
          setCodes(backupCodes);
        }}
      >
        Your current codes will stop working.
      </PasswordDialog>
      <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />
    </Section>
  );
}

type ButtonsProps = { user: Me["user"]; onOpen: (what: Open) => void };

function TwoFactorButtons({ user, onOpen }: ButtonsProps) {
  if (user.isTwoFactorOn)
    return (
      <Group gap="xs">
        <Button variant="default" onClick={() => onOpen("new-codes")}>
          Create new recovery codes
        </Button>
        <Button variant="default" color="red" onClick={() => onOpen("turn-off")}>
          Turn off two-factor authentication
        </Button>
      </Group>
    );
  const verdict = user.hasPassword
    ? ({ isAllowed: true } as const)
    : ({
        isAllowed: false,
        reason: "Set a password first. You need one to turn on two-factor authentication.",
      } as const);
  return (
    <Group gap="md">
      <ActionButton verdict={verdict} onClick={() => onOpen("set-up")}>
        Set up two-factor authentication
      </ActionButton>
      <Text size="sm" c="dimmed">
        You need an authenticator app on your phone.
      </Text>
    </Group>
  );
}

/** Recovery codes, shown only once. They replace the authenticator app if the phone is lost. */
function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[] | null; onClose: () => void }) {
  return (
    <Modal opened={codes !== null} onClose={onClose} title="Save your recovery codes" {...PERSISTENT}>
      {codes && (
        <ShownOnce
          intro={
            <Text size="sm">
              If you lose access to your authenticator app, you can sign in with one of these codes. Each code works
              once. They won’t be shown again, so save them in your password manager.
            </Text>
          }
          label="Recovery codes"
          value={codes.join("\n")}
          doneLabel="I’ve saved them"
          onDone={onClose}
        />
      )}
    </Modal>
  );
}
