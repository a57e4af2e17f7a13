import { Alert, Divider, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { optionsQuery } from "../api/queries.ts";
import { forgetSessionEnd } from "../api/session-end.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { toReturnPath } from "../paths.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { EntryFrame } from "./EntryFrame.tsx";
import { OidcButton, SignInForm } from "./SignInForm.tsx";

const DEFAULTS = { next: "", error: "", email: "", step: "" };

export function SignInPage() {
  const [{ next, error, email, step }] = useUrlState(DEFAULTS);
  const options = useQuery(optionsQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const resume = () => {
    forgetSessionEnd();
    queries.clear();
    void navigate({ href: toReturnPath(next), replace: true });
  };
  return (
    <EntryFrame
      title="Sign in"
      footer={
        options.data?.isSignUpOpen && (
          <>
            New here?{" "}
            <TextLink to={ENTRY_PAGES.signUp} underline="always">
              Create an account
            </TextLink>
          </>
        )
      }
    >
      <Stack gap="md">
        {options.data?.isSetUpNeeded && (
          <Alert color="petrol" title="Bookflow isn’t set up yet">
            Open the setup link that Bookflow printed when it started.
          </Alert>
        )}
        {error !== "" && (
          <Alert color="red" role="alert">
            Single sign-on failed. If you have an account, sign in with your password, then connect single sign-on in
            your profile. Otherwise, ask an admin to invite you.
          </Alert>
        )}
        <SignInForm email={email} firstStep={step === "code" ? "code" : "password"} onSignedIn={resume} />
        <TextLink to={ENTRY_PAGES.forgotPassword} size="sm">
          Forgot your password?
        </TextLink>
        {options.data?.hasOidc && <Divider label="or" />}
        <OidcButton returnPath={toReturnPath(next)} />
      </Stack>
    </EntryFrame>
  );
}
