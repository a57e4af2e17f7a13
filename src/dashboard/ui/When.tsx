import { formatRelative } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";

/** "3 minutes ago", and the exact time to whoever points at it; a dash for never. */
export function When({ at, never = "–" }: { at: string | null; never?: string }) {
  const { format } = useOrganization();
  if (at === null) return never;
  return (
    <time dateTime={at} title={format.exact(at)}>
      {formatRelative(at)}
    </time>
  );
}
