import { Alert, Button, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { ENTRY_PAGES } from "#contract/app/entry-pages.ts";
import { RESET_LINK_MINUTES } from "#contract/app/limits.ts";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

export function ForgotPasswordPage() {
  const form = useForm({ mode: "uncontrolled", initialValues: { email: "" } });
  const ask = useAction({
    run: (email: string) => call("requestPasswordReset", { body: { email } }),
    form,
    isQuiet: true,
  });
  return (
    <EntryFrame title="Choose a new password" footer={<TextLink to={ENTRY_PAGES.signIn}>Back to sign-in</TextLink>}>
      {ask.isSuccess ? (
        <Alert color="green" role="status" title="Look into your mail">
          If {ask.variables} has an account, a link is on its way. It works once, for {RESET_LINK_MINUTES} minutes.
          Where this service sends no mail, its operator finds the link in the log.
        </Alert>
      ) : (
        <form onSubmit={form.onSubmit(({ email }) => ask.mutate(email.trim()))}>
          <Stack gap="md">
            <FormFault error={ask.error} />
            <TextInput
              label="E-mail address"
              description="We send a link to it."
              type="email"
              autoComplete="username"
              required
              key={form.key("email")}
              {...form.getInputProps("email")}
            />
            <Button type="submit" fullWidth loading={ask.isPending}>
              Send the link
            </Button>
          </Stack>
        </form>
      )}
    </EntryFrame>
  );
}
