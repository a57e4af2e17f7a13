import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ENTRY_PAGES } from "#contract/app/entry-pages.ts";
import { call } from "../api/call.ts";
import { optionsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";

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
