import { Center, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazyRouteComponent, type RouteComponent } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../api/call.ts";
import { Page } from "../ui/layout/Page.tsx";
import { ErrorState } from "../ui/states/ErrorState.tsx";

type Screen = () => ReactNode;
type Find = () => Promise<Screen>;

/** A screen whose code is loaded when it is first shown. Where that fails, a stand-in tries again in its place. */
export function lazyScreen<Name extends string>(
  load: () => Promise<Readonly<Record<Name, Screen>>>,
  name: Name,
): RouteComponent {
  const find: Find = async () => {
    const { [name]: screen } = await load();
    sessionStorage.removeItem(toMark(name));
    return screen;
  };
  const standIn = () => <StandIn name={name} find={find} />;
  return lazyRouteComponent(async () => ({ default: await find().catch(() => standIn) }));
}

/** Also tries again by itself when the browser is back online. */
function StandIn({ name, find }: { name: string; find: Find }) {
  const screen = useQuery({
    queryKey: ["screen", name],
    queryFn: () => findAgain(name, find),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: Found, error } = screen;
  const retry = () => {
    sessionStorage.removeItem(toMark(name));
    void screen.refetch();
  };
  if (Found) return <Found />;
  if (error)
    return (
      <Page title="This screen could not be loaded" width="narrow">
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
  // Vite takes the link of a stylesheet that failed for the stylesheet.
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]'))
    if (link.sheet === null) link.remove();
  try {
    return await find();
  } catch (error) {
    // Where Bookflow cannot be reached, this says so.
    await call("listSignInOptions", {});
    // A newer version has replaced the file, or the browser remembers that it failed: the whole page is loaded anew, once.
    if (sessionStorage.getItem(toMark(name)) !== null) throw error;
    sessionStorage.setItem(toMark(name), "");
    window.location.reload();
    return await new Promise<never>(() => undefined);
  }
}

function toMark(name: string): string {
  return `bookflow-reloaded-for-${name}`;
}
