import { Alert, Button, Divider, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ENTRY_PAGES } from "#contract/app/entry-pages.ts";
import { call } from "../api/call.ts";
import { optionsQuery } from "../api/queries.ts";
import { forgetSessionEnd } from "../api/session-end.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { toReturnPath } from "../paths.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { EntryFrame } from "./EntryFrame.tsx";
import { SignInForm } from "./SignInForm.tsx";

const DEFAULTS = { next: "", error: "", email: "" };

export function SignInPage() {
  const [{ next, error, email }] = useUrlState(DEFAULTS);
  const options = useQuery(optionsQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const goOn = () => {
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
              Make an account
            </TextLink>
          </>
        )
      }
    >
      <Stack gap="md">
        {options.data?.isSetUpNeeded && (
          <Alert color="petrol" title="Bookflow is not set up yet">
            Open the set-up link that the service printed when it started.
          </Alert>
        )}
        {error !== "" && (
          <Alert color="red" role="alert">
            Signing in with your organization's account did not work. Ask for an invitation, or use your password.
          </Alert>
        )}
        <SignInForm email={email} onSignedIn={goOn} />
        <TextLink to={ENTRY_PAGES.forgotPassword} size="sm">
          Forgot your password?
        </TextLink>
        {options.data?.hasOidc && <OidcButton next={next} />}
      </Stack>
    </EntryFrame>
  );
}

function OidcButton({ next }: { next: string }) {
  const start = useAction({
    run: () =>
      call("signInWithOidc", {
        body: { callbackURL: toReturnPath(next), errorCallbackURL: `${ENTRY_PAGES.signIn}?error=oidc` },
      }),
    onDone: ({ url }) => window.location.assign(url),
  });
  return (
    <>
      <Divider label="or" />
      <Button variant="default" fullWidth loading={start.isPending} onClick={() => start.mutate()}>
        Sign in with your organization's account
      </Button>
    </>
  );
}
