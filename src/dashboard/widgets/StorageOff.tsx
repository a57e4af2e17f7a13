import type { AppWidget } from "#contract/app/widgets.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";

type ShownWidget = Pick<AppWidget, "id" | "name" | "collectData">;

/** Why bookings are missing from a list: names the first widget that doesn't store them, and leads to its switch. */
export function StorageOff({ widgets, fallback }: { widgets: readonly ShownWidget[]; fallback: string }) {
  const { paths } = useOrganization();
  const widget = widgets.find(({ collectData }) => !collectData);
  if (!widget) return fallback;
  return (
    <>
      Bookings made through {widget.name} are counted, but not stored.{" "}
      <TextLink to={paths.widget(widget.id)} search={{ tab: "storage" }} underline="always" inherit>
        Turn on Store bookings
      </TextLink>{" "}
      to see them here.
    </>
  );
}
