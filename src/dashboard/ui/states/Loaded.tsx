import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorState } from "./ErrorState.tsx";
import { LoadingRows } from "./LoadingRows.tsx";

type LoadedProps<Data> = {
  query: Pick<UseQueryResult<Data>, "data" | "error" | "refetch">;
  /** Number of placeholder rows while loading; `placeholder` replaces them. */
  rows?: number;
  placeholder?: ReactNode;
  children: (data: Data) => ReactNode;
};

/** The states of a query: loading, failed, loaded. Loaded data stays on screen during a refresh. */
export function Loaded<Data>({ query, rows = 5, placeholder, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return placeholder ?? <LoadingRows count={rows} />;
}
