import { Anchor, Button, PasswordInput, PinInput, Stack, Text, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { call } from "../api/call.ts";
import { optionsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";

type Step = "password" | "code" | "recovery";

type SignInFormProps = { email: string; firstStep?: Step; onSignedIn: () => void };

/**
 * Password first; with two-factor authentication then a code from the authenticator app, or a recovery code. After single sign-on,
 * the code is the first step.
 */
export function SignInForm({ email, firstStep = "password", onSignedIn }: SignInFormProps) {
  const [step, setStep] = useState<Step>(firstStep);
  if (step === "password") return <PasswordStep email={email} onCode={() => setStep("code")} onSignedIn={onSignedIn} />;
  return (
    <CodeStep
      key={step}
      isRecovery={step === "recovery"}
      onOther={() => setStep(step === "code" ? "recovery" : "code")}
      onStartOver={() => setStep("password")}
      onSignedIn={onSignedIn}
    />
  );
}

type PasswordStepProps = { email: string; onCode: () => void; onSignedIn: () => void };

function PasswordStep({ email, onCode, onSignedIn }: PasswordStepProps) {
  const form = useForm({ initialValues: { email, password: "" } });
  const signIn = useAction({
    run: (body: { email: string; password: string }) => call("signIn", { body }),
    form,
    onDone: (response) => (response.twoFactorRedirect ? onCode() : onSignedIn()),
  });
  return (
    <ActionForm form={form} action={signIn} label="Sign in">
      <TextInput
        label="Email address"
        type="email"
        autoComplete="username"
        required
        data-autofocus={email === "" || undefined}
        {...form.getInputProps("email")}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        data-autofocus={email !== "" || undefined}
        {...form.getInputProps("password")}
      />
    </ActionForm>
  );
}

const CODE_LENGTH = 6;

type CodeStepProps = {
  isRecovery: boolean;
  onOther: () => void;
  onStartOver: () => void;
  onSignedIn: () => void;
};

function CodeStep({ isRecovery, onOther, onStartOver, onSignedIn }: CodeStepProps) {
  const form = useForm({ initialValues: { code: "" } });
  const signIn = useAction({
    run: ({ code }: { code: string }) =>
      call(isRecovery ? "signInWithRecoveryCode" : "signInWithCode", { body: { code: code.trim() } }),
    form,
    onDone: onSignedIn,
  });
  return (
    <ActionForm form={form} action={signIn}>
      {isRecovery ? (
        <TextInput
          label="Recovery code"
          description="One of the codes you saved when you turned on two-factor authentication. Each code works once."
          autoComplete="off"
          autoFocus
          required
          {...form.getInputProps("code")}
        />
      ) : (
        <PinField form={form} onComplete={(code) => signIn.mutate({ code })} />
      )}
      <Button type="submit" fullWidth loading={signIn.isPending}>
        Sign in
      </Button>
      <Stack gap={4}>
        <Anchor component="button" type="button" size="sm" ta="start" onClick={onOther}>
          {isRecovery ? "Use authenticator app" : "Use a recovery code"}
        </Anchor>
        <Anchor component="button" type="button" size="sm" ta="start" onClick={onStartOver}>
          Start over
        </Anchor>
      </Stack>
    </ActionForm>
  );
}

type PinFieldProps = { form: UseFormReturnType<{ code: string }>; onComplete: (code: string) => void };

function PinField({ form, onComplete }: PinFieldProps) {
  const fault = form.errors["code"];
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0 }}>
      <Text component="legend" size="sm" fw={500} mb={8}>
        Code from your authenticator app
      </Text>
      <PinInput
        type="number"
        length={CODE_LENGTH}
        oneTimeCode
        autoFocus
        getInputProps={(index) => ({ "aria-label": `Digit ${index + 1} of ${CODE_LENGTH}` })}
        error={fault !== undefined}
        {...form.getInputProps("code")}
        onComplete={onComplete}
      />
      {fault && (
        <Text c="var(--mantine-color-error)" size="xs" mt={6} role="alert">
          {fault}
        </Text>
      )}
    </fieldset>
  );
}

/** Leads to the issuer and back to `returnPath`. Not shown without an issuer. */
export function OidcButton({ returnPath }: { returnPath: string }) {
  const options = useQuery(optionsQuery);
  const start = useAction({
    run: () =>
      call("signInWithOidc", {
        body: { callbackURL: returnPath, errorCallbackURL: `${ENTRY_PAGES.signIn}?error=oidc` },
      }),
    onDone: ({ url }) => window.location.assign(url),
  });
  if (!options.data?.hasOidc) return null;
  return (
    <Button variant="default" fullWidth loading={start.isPending} onClick={() => start.mutate()}>
      Continue with single sign-on
    </Button>
  );
}
