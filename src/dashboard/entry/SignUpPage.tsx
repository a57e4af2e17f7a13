import { Button, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ENTRY_PAGES, HOME } from "#contract/app/entry-pages.ts";
import { call } from "../api/call.ts";
import { ApiFailure } from "../api/client.ts";
import { useAction } from "../hooks/use-action.ts";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { AccountFields } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

/** Only where the operator lets everybody make an account. */
export function SignUpPage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({ mode: "uncontrolled", initialValues: { name: "", email: "", password: "" } });
  const signUp = useAction({
    run: signUpAndIn,
    form,
    isQuiet: true,
    onDone: () => {
      queries.clear();
      void navigate({ to: HOME, replace: true });
    },
  });
  return (
    <EntryFrame
      title="Make an account"
      footer={
        <>
          You have one?{" "}
          <TextLink to={ENTRY_PAGES.signIn} underline="always">
            Sign in
          </TextLink>
        </>
      }
    >
      <form onSubmit={form.onSubmit((values) => signUp.mutate(values))}>
        <Stack gap="md">
          <FormFault error={signUp.error} />
          <AccountFields form={form} />
          <Button type="submit" fullWidth loading={signUp.isPending}>
            Make an account
          </Button>
        </Stack>
      </form>
    </EntryFrame>
  );
}

/** Signing up is answered the same whether or not the address has an account; signing in afterwards tells them apart. */
async function signUpAndIn(values: { name: string; email: string; password: string }): Promise<void> {
  await call("signUp", { body: values });
  try {
    await call("signIn", { body: values });
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
    const message = "This address has an account already. Sign in with it, or ask for a new password.";
    throw new ApiFailure({ code: error.code, status: error.status, message });
  }
}
