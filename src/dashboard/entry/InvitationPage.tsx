import { Alert, Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { InvitationPreview } from "#contract/app/account.ts";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { call } from "../api/call.ts";
import { isNotFound } from "../api/client.ts";
import { meQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { ROLE_MEANINGS, ROLE_NAMES } from "../members/role-words.ts";
import { pathsOf } from "../paths.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { NewPasswordInput } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";
import { OidcButton, SignInForm } from "./SignInForm.tsx";

const DEFAULTS = { token: "" };

const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: () => call("lookUpInvitation", { body: { token } }),
    staleTime: Infinity,
  });

/** The link doesn't tell whether its address has an account, so people choose: sign in, or create one. */
export function InvitationPage() {
  const [{ token }] = useUrlState(DEFAULTS);
  const invitation = useQuery(invitationQuery(token));
  const title = invitation.data ? `Join ${invitation.data.organizationName}` : "Invitation";
  if (isNotFound(invitation.error))
    return (
      <EntryFrame title="Invitation not valid">
        <Stack gap="md">
          <Text size="sm">This invitation has expired, or was already used or revoked. Ask for a new one.</Text>
          <ButtonLink to={ENTRY_PAGES.signIn} variant="default" fullWidth>
            Sign in
          </ButtonLink>
        </Stack>
      </EntryFrame>
    );
  return (
    <EntryFrame title={title}>
      <Loaded query={invitation} rows={4}>
        {(preview) => (
          <Stack gap="md">
            <Text size="sm">
              <b>{preview.email}</b> has been invited as <b>{ROLE_NAMES[preview.role].toLowerCase()}</b>.{" "}
              <Text span c="dimmed">
                {ROLE_MEANINGS[preview.role]}
              </Text>
            </Text>
            <Acceptance token={token} preview={preview} />
          </Stack>
        )}
      </Loaded>
    </EntryFrame>
  );
}

function useJoin() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (organizationId: string) => {
    queries.clear();
    void navigate({ to: pathsOf(organizationId).start, replace: true });
  };
}

type AcceptanceProps = { token: string; preview: InvitationPreview };

function Acceptance({ token, preview }: AcceptanceProps) {
  const me = useQuery(meQuery);
  const [hasAccount, setHasAccount] = useState(false);
  const join = useJoin();
  const accept = useAction({
    run: () => call("acceptInvitation", { body: { token } }),
    isQuiet: true,
    successMessage: () => `You joined ${preview.organizationName}`,
    onDone: ({ organizationId }) => join(organizationId),
  });
  const signOut = useAction({ run: () => call("signOut", { body: {} }), onDone: () => void me.refetch() });
  if (me.isPending) return null;
  // A failure means that no one is signed in.
  const signedIn = me.isError ? null : me.data.user;
  if (!signedIn)
    return (
      <>
        <FormFault error={accept.error} />
        {hasAccount ? (
          <SignInForm email={preview.email} onSignedIn={() => accept.mutate()} />
        ) : (
          <NewAccountForm token={token} preview={preview} />
        )}
        <OidcButton returnPath={`${ENTRY_PAGES.invitation}?token=${token}`} />
        <Anchor component="button" type="button" size="sm" ta="start" onClick={() => setHasAccount(!hasAccount)}>
          {hasAccount ? "Create an account instead" : "I already have an account"}
        </Anchor>
      </>
    );
  if (signedIn.email !== preview.email)
    return (
      <>
        <Alert color="yellow">
          You’re signed in as {signedIn.email}, but this invitation is for {preview.email}.
        </Alert>
        <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </>
    );
  return (
    <>
      <FormFault error={accept.error} />
      <Button fullWidth loading={accept.isPending} onClick={() => accept.mutate()}>
        Accept invitation
      </Button>
    </>
  );
}

function NewAccountForm({ token, preview }: AcceptanceProps) {
  const join = useJoin();
  const form = useForm({ initialValues: { name: "", password: "" } });
  const accept = useAction({
    run: (values: { name: string; password: string }) => call("acceptInvitation", { body: { token, ...values } }),
    form,
    successMessage: () => `You joined ${preview.organizationName}`,
    onDone: ({ organizationId }) => join(organizationId),
  });
  return (
    <ActionForm form={form} action={accept} label="Create account and join">
      {/* Password managers save it with the password. */}
      <input type="email" name="email" autoComplete="username" value={preview.email} readOnly hidden />
      <TextInput label="Your name" autoComplete="name" required {...form.getInputProps("name")} />
      <NewPasswordInput {...form.getInputProps("password")} />
    </ActionForm>
  );
}
