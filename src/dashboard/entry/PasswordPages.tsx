import { Alert, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { MAIL_PAUSE_MINUTES, RESET_LINK_MINUTES } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { NewPasswordInput } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

export function ForgotPasswordPage() {
  const form = useForm({ initialValues: { email: "" } });
  const ask = useAction({
    run: ({ email }: { email: string }) => call("requestPasswordReset", { body: { email: email.trim() } }),
    form,
  });
  return (
    <EntryFrame title="Reset your password" footer={<TextLink to={ENTRY_PAGES.signIn}>Back to sign in</TextLink>}>
      {ask.isSuccess ? (
        <Alert color="green" role="status" title="Check your inbox">
          If {ask.variables.email.trim()} has an account, we’ve sent it a link. The link works once and expires in{" "}
          {RESET_LINK_MINUTES} minutes. We send at most one every {MAIL_PAUSE_MINUTES} minutes. If this server doesn’t
          send emails, ask its operator for the link.
        </Alert>
      ) : (
        <ActionForm form={form} action={ask} label="Send reset link">
          <TextInput
            label="Email address"
            description="We’ll send you a link to choose a new password."
            type="email"
            autoComplete="username"
            required
            {...form.getInputProps("email")}
          />
        </ActionForm>
      )}
    </EntryFrame>
  );
}

const DEFAULTS = { token: "" };

export function ResetPasswordPage() {
  const [{ token }] = useUrlState(DEFAULTS);
  const navigate = useNavigate();
  const form = useForm({ initialValues: { newPassword: "" } });
  const reset = useAction({
    run: ({ newPassword }: { newPassword: string }) => call("resetPassword", { body: { token, newPassword } }),
    form,
    successMessage: () => "Password changed. All your devices were signed out.",
    onDone: () => void navigate({ to: ENTRY_PAGES.signIn, replace: true }),
  });
  return (
    <EntryFrame
      title="Choose a new password"
      description="You’ll be signed out on all devices and need to sign in with the new password."
      footer={<TextLink to={ENTRY_PAGES.forgotPassword}>Request a new link</TextLink>}
    >
      <ActionForm form={form} action={reset} label="Change password">
        <NewPasswordInput label="New password" {...form.getInputProps("newPassword")} />
      </ActionForm>
    </EntryFrame>
  );
}
