import { formatRelative } from "../../format.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import classes from "./When.module.css";

/** "3 minutes ago", with the exact time as tooltip. */
export function When({ at, never = "–" }: { at: string | null; never?: string }) {
  const { format } = useOrganization();
  if (at === null) return never;
  return (
    <time dateTime={at} title={format.exact(at)} className={classes["when"]}>
      {formatRelative(at)}
    </time>
  );
}
