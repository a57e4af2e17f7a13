import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorState } from "./ErrorState.tsx";
import { LoadingRows } from "./LoadingRows.tsx";

type LoadedProps<Data> = {
  query: Pick<UseQueryResult<Data>, "data" | "error" | "refetch">;
  /** How many rows to keep room for; or what to show instead. */
  rows?: number;
  placeholder?: ReactNode;
  children: (data: Data) => ReactNode;
};

/** The three states of what is read: on its way, failed, there. What was there before stays while it is read again. */
export function Loaded<Data>({ query, rows = 5, placeholder, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return placeholder ?? <LoadingRows count={rows} />;
}
