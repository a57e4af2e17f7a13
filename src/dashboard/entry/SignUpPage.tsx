import { Alert, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { DASHBOARD_ADDRESS, ENTRY_PAGES } from "#contract/app/addresses.ts";
import { MAIL_PAUSE_MINUTES, SIGN_UP_LINK_MINUTES } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { NewPasswordInput } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

const DEFAULTS = { token: "", email: "" };

/** Works only if the operator allows sign-up. The address comes first; the link sent to it leads back here with a token. */
export function SignUpPage() {
  const [{ token, email }] = useUrlState(DEFAULTS);
  return (
    <EntryFrame
      title="Create an account"
      footer={
        <>
          Already have one?{" "}
          <TextLink to={ENTRY_PAGES.signIn} underline="always">
            Sign in
          </TextLink>
        </>
      }
    >
      {token === "" ? <AddressStep /> : <AccountStep token={token} email={email} />}
    </EntryFrame>
  );
}

function AddressStep() {
  const form = useForm({ initialValues: { email: "" } });
  const ask = useAction({
    run: ({ email }: { email: string }) => call("requestSignUpLink", { body: { email: email.trim() } }),
    form,
  });
  if (ask.isSuccess)
    return (
      <Alert color="green" role="status" title="Check your inbox">
        We’ve sent an email to {ask.variables.email.trim()}. Its link works once and expires in {SIGN_UP_LINK_MINUTES}{" "}
        minutes. We send at most one every {MAIL_PAUSE_MINUTES} minutes.
      </Alert>
    );
  return (
    <ActionForm form={form} action={ask} label="Send link">
      <TextInput
        label="Email address"
        description="We’ll send you a link to create your account."
        type="email"
        autoComplete="username"
        required
        {...form.getInputProps("email")}
      />
    </ActionForm>
  );
}

function AccountStep({ token, email }: { token: string; email: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: "", password: "" } });
  const signUp = useAction({
    run: (values: { name: string; password: string }) => call("signUp", { body: { token, ...values } }),
    form,
    onDone: () => {
      queries.clear();
      void navigate({ to: DASHBOARD_ADDRESS, replace: true });
    },
  });
  return (
    <ActionForm form={form} action={signUp} label="Create account">
      {email !== "" && (
        <Text size="sm">
          For <b>{email}</b>.
        </Text>
      )}
      {/* Password managers save it with the password. */}
      <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
      <TextInput label="Name" autoComplete="name" required {...form.getInputProps("name")} />
      <NewPasswordInput {...form.getInputProps("password")} />
    </ActionForm>
  );
}
