import { Alert, Badge, Button, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Me } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { meKey, optionsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Section } from "../ui/layout/Section.tsx";

const DEFAULTS = { error: "" };

/** Not shown without an issuer. */
export function SingleSignOnSection({ user }: { user: Me["user"] }) {
  const [{ error }] = useUrlState(DEFAULTS);
  const options = useQuery(optionsQuery);
  const connect = useAction({
    run: () => {
      const { pathname } = window.location;
      return call("connectOidc", { body: { callbackURL: pathname, errorCallbackURL: `${pathname}?error=oidc` } });
    },
    onDone: ({ url }) => window.location.assign(url),
  });
  const disconnect = useAction({
    run: () => call("disconnectOidc", {}),
    refreshes: [meKey],
    successMessage: () => "Single sign-on disconnected",
  });
  if (!options.data?.hasOidc) return null;
  const verdict = user.hasPassword
    ? ({ isAllowed: true } as const)
    : ({ isAllowed: false, reason: "Set a password first. Without one, you couldn’t sign in any more." } as const);
  return (
    <Section
      title="Single sign-on"
      description="Lets you sign in with your company account instead of your password."
      actions={user.hasOidc ? <Badge color="green">Connected</Badge> : <Badge color="gray">Not connected</Badge>}
    >
      <Stack gap="md" align="flex-start">
        {error !== "" && !user.hasOidc && (
          <Alert color="red" role="alert">
            Single sign-on wasn’t connected. It must have the same email address, {user.email}, and have verified it.
          </Alert>
        )}
        {user.hasOidc ? (
          <ActionButton
            verdict={verdict}
            variant="default"
            loading={disconnect.isPending}
            onClick={() => disconnect.mutate()}
          >
            Disconnect single sign-on
          </ActionButton>
        ) : (
          <Button variant="default" loading={connect.isPending} onClick={() => connect.mutate()}>
            Connect single sign-on
          </Button>
        )}
      </Stack>
    </Section>
  );
}
