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

/** Works only if the operator allows sign-up. */
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
      <form onSubmit={form.onSubmit((values) => signUp.mutate(values))}>
        <Stack gap="md">
          <FormFault error={signUp.error} />
          <AccountFields form={form} />
          <Button type="submit" fullWidth loading={signUp.isPending}>
            Create account
          </Button>
        </Stack>
      </form>
    </EntryFrame>
  );
}

/** Sign-up answers the same whether or not the address has an account; only signing in afterwards shows the difference. */
async function signUpAndIn(values: { name: string; email: string; password: string }): Promise<void> {
  await call("signUp", { body: values });
  try {
    await call("signIn", { body: values });
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
    const message = "This email address already has an account. Sign in, or reset your password.";
    throw new ApiFailure({ code: error.code, status: error.status, message });
  }
}
