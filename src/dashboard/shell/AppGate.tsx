import { Center, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { createContext, useContext, useEffect, useState } from "react";
import type { Me } from "#contract/app/account.ts";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { ApiFailure } from "../api/client.ts";
import { meQuery } from "../api/queries.ts";
import { followSignOut, reportSessionEnd } from "../api/session-end.ts";
import { ErrorState } from "../ui/states/Loaded.tsx";

const MeContext = createContext<Me | null>(null);

/** The signed-in person. Works below AppGate only. */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error("useMe is used outside of AppGate");
  return me;
}

/** Shows the dashboard to signed-in people and sends everyone else to sign in, and back afterwards. */
export function AppGate() {
  const me = useQuery(meQuery);
  const isSignedOut = me.error instanceof ApiFailure && me.error.status === 401;
  const hasSessionEnded = isSignedOut && me.data !== undefined;
  useEffect(() => {
    if (hasSessionEnded) reportSessionEnd();
  }, [hasSessionEnded]);
  useEffect(followSignOut, []);
  const isSomeoneElse = useIsSomeoneElse(me.data?.user.id);
  useEffect(() => {
    if (isSomeoneElse) window.location.reload();
  }, [isSomeoneElse]);

  // Unmounts unsaved forms first, so that the reload doesn't ask for confirmation.
  if (isSomeoneElse) return null;
  if (me.data)
    return (
      <MeContext value={me.data}>
        <Outlet />
      </MeContext>
    );
  if (isSignedOut) return <GoToSignIn />;
  if (me.error) return <ErrorState error={me.error} onRetry={() => void me.refetch()} />;
  return (
    <Center h="100dvh">
      <Loader aria-label="Loading" />
    </Center>
  );
}

/** Whether another person has signed in in another tab. They must not see the previous person's screens. */
function useIsSomeoneElse(userId: string | undefined): boolean {
  const [firstId, setFirstId] = useState(userId);
  if (firstId === undefined && userId !== undefined) setFirstId(userId);
  return firstId !== undefined && userId !== undefined && userId !== firstId;
}

function GoToSignIn() {
  const navigate = useNavigate();
  const router = useRouter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the requested address
  useEffect(() => {
    const search: Record<string, string> = { next: router.state.location.href };
    void navigate({ to: ENTRY_PAGES.signIn, search, replace: true });
  }, []);
  return null;
}
