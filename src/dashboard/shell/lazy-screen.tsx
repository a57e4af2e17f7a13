import { Center, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazyRouteComponent, type RouteComponent } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../api/call.ts";
import { Page } from "../ui/layout/Page.tsx";
import { ErrorState } from "../ui/states/Loaded.tsx";

type Screen = () => ReactNode;
type Find = () => Promise<Screen>;

/** A screen whose code is loaded when it is first shown. If loading fails, a stand-in offers to try again. */
export function lazyScreen<Name extends string>(
  load: () => Promise<Readonly<Record<Name, Screen>>>,
  name: Name,
): RouteComponent {
  const find: Find = async () => {
    const { [name]: screen } = await load();
    sessionStorage.removeItem(toReloadKey(name));
    return screen;
  };
  const standIn = () => <StandIn name={name} find={find} />;
  return lazyRouteComponent(async () => ({ default: await find().catch(() => standIn) }));
}

/** Also tries again when the browser is back online. */
function StandIn({ name, find }: { name: string; find: Find }) {
  const screen = useQuery({
    queryKey: ["screen", name],
    queryFn: () => findAgain(name, find),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: Found, error } = screen;
  const retry = () => {
    sessionStorage.removeItem(toReloadKey(name));
    void screen.refetch();
  };
  if (Found) return <Found />;
  if (error)
    return (
      <Page title="This page couldn’t be loaded" width="narrow">
        <ErrorState error={error} onRetry={retry} />
      </Page>
    );
  return (
    <Center h="50dvh">
      <Loader aria-label="Loading" />
    </Center>
  );
}

async function findAgain(name: string, find: Find): Promise<Screen> {
  // Vite counts a stylesheet link as loaded even if loading failed.
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]'))
    if (link.sheet === null) link.remove();
  try {
    return await find();
  } catch (error) {
    // Throws the right message if the server can't be reached.
    await call("listSignInOptions", {});
    // A new version replaced the file, or the browser cached the failure: reload the whole page, once.
    if (sessionStorage.getItem(toReloadKey(name)) !== null) throw error;
    sessionStorage.setItem(toReloadKey(name), "");
    window.location.reload();
    return await new Promise<never>(() => undefined);
  }
}

function toReloadKey(name: string): string {
  return `bookflow-reloaded-for-${name}`;
}
