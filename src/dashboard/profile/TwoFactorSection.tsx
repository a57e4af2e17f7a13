import { Badge, Button, Group, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Me } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { PasswordDialog } from "./PasswordDialog.tsx";
import { RecoveryCodesDialog } from "./RecoveryCodesDialog.tsx";
import { TwoFactorSetUp } from "./TwoFactorSetUp.tsx";

type Open = "set-up" | "switch-off" | "new-codes" | null;

export function TwoFactorSection({ user }: { user: Me["user"] }) {
  const [open, setOpen] = useState<Open>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const queries = useQueryClient();
  const close = () => setOpen(null);
  const verdict = user.hasPassword
    ? ({ isAllowed: true } as const)
    : ({ isAllowed: false, reason: "Set a password first; it is asked for here." } as const);
  return (
    <Section
      title="Two-factor sign-in"
      description="Signing in then takes a code from an app on your phone besides your password."
      actions={user.isTwoFactorOn ? <Badge color="green">On</Badge> : <Badge color="gray">Off</Badge>}
    >
      {user.isTwoFactorOn ? (
        <Group gap="xs">
          <Button variant="default" onClick={() => setOpen("new-codes")}>
            Make new recovery codes
          </Button>
          <Button variant="default" color="red" onClick={() => setOpen("switch-off")}>
            Switch off
          </Button>
        </Group>
      ) : (
        <Group gap="md">
          <ActionButton verdict={verdict} onClick={() => setOpen("set-up")}>
            Set up
          </ActionButton>
          <Text size="sm" c="dimmed">
            You need an authenticator app, such as one that your phone brings along.
          </Text>
        </Group>
      )}
      <TwoFactorSetUp
        isOpen={open === "set-up"}
        onClose={close}
        onDone={(made) => {
          close();
          setCodes(made);
          void queries.invalidateQueries({ queryKey: meKey });
        }}
      />
      <PasswordDialog
        isOpen={open === "switch-off"}
        title="Switch off two-factor sign-in?"
        confirmLabel="Switch off"
        isDangerous
        run={(password) => call("disableTwoFactor", { body: { password } })}
        says="Two-factor sign-in is off."
        onClose={close}
        onDone={() => {
          close();
          void queries.invalidateQueries({ queryKey: meKey });
        }}
      >
        Your password alone is then enough to sign in. The recovery codes stop working.
      </PasswordDialog>
      <PasswordDialog
        isOpen={open === "new-codes"}
        title="Make new recovery codes?"
        confirmLabel="Make new codes"
        run={(password) => call("createRecoveryCodes", { body: { password } })}
        onClose={close}
        onDone={({ backupCodes }) => {
          close();
          setCodes(backupCodes);
        }}
      >
        The codes you have now stop working.
      </PasswordDialog>
      <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />
    </Section>
  );
}
