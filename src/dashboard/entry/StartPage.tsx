import { Button, Group, Text } from "@mantine/core";
import { Navigate } from "@tanstack/react-router";
import { NEW_ORGANIZATION, pathsOf } from "../paths.ts";
import { useMe } from "../shell/AppGate.tsx";
import { useSignOut } from "../shell/PersonMenu.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

/** /app opens the organization that was used last. */
export function StartPage() {
  const me = useMe();
  const signOut = useSignOut();
  if (me.current !== null) return <Navigate to={pathsOf(me.current).start} replace />;
  return (
    <EntryFrame title="You’re not in an organization yet" description={`Signed in as ${me.user.email}`}>
      <Text size="sm">
        {me.canCreateOrganization
          ? "Create an organization, or open the invitation you received."
          : "Ask an admin of your organization to invite this email address."}
      </Text>
      <Group gap="xs">
        {me.canCreateOrganization && <ButtonLink to={NEW_ORGANIZATION}>Create organization</ButtonLink>}
        <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </Group>
    </EntryFrame>
  );
}
