import { Alert, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { MAIL_PAUSE_MINUTES, RESET_LINK_MINUTES } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { TextLink } from "../ui/layout/links.tsx";
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
