import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { NewPasswordInput } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

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
