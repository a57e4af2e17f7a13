import { Button, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { NewPasswordInput } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

const DEFAULTS = { token: "" };

export function ResetPasswordPage() {
  const [{ token }] = useUrlState(DEFAULTS);
  const navigate = useNavigate();
  const form = useForm({ mode: "uncontrolled", initialValues: { newPassword: "" } });
  const reset = useAction({
    run: (newPassword: string) => call("resetPassword", { body: { token, newPassword } }),
    form,
    isQuiet: true,
    successMessage: () => "Password changed. All your devices were signed out.",
    onDone: () => void navigate({ to: ENTRY_PAGES.signIn, replace: true }),
  });
  return (
    <EntryFrame
      title="Choose a new password"
      description="You’ll be signed out on all devices and need to sign in with the new password."
      footer={<TextLink to={ENTRY_PAGES.forgotPassword}>Request a new link</TextLink>}
    >
      <form onSubmit={form.onSubmit(({ newPassword }) => reset.mutate(newPassword))}>
        <Stack gap="md">
          <FormFault error={reset.error} />
          <NewPasswordInput label="New password" key={form.key("newPassword")} {...form.getInputProps("newPassword")} />
          <Button type="submit" fullWidth loading={reset.isPending}>
            Change password
          </Button>
        </Stack>
      </form>
    </EntryFrame>
  );
}
