import { Group, Paper, SegmentedControl, Text, Title } from "@mantine/core";
import { useId, useState } from "react";
import type { AppWidget } from "#contract/app/widgets.ts";
import type { FrameContext } from "#contract/widgets/frame-messages.ts";
import classes from "./Preview.module.css";
import { toPreview, type WidgetValues } from "./widget-form.ts";

type PreviewProps = { widget: AppWidget; values: WidgetValues; accent: string | null };
type Width = "desktop" | "phone";
type Scheme = "light" | "dark";

/** The real booking frame in preview mode, with unsaved changes (src/widget/frame/host/preview.ts). */
export function Preview({ widget, values, accent }: PreviewProps) {
  const [scheme, setScheme] = useState<Scheme>("light");
  const [width, setWidth] = useState<Width>("desktop");
  const shown = JSON.stringify(toPreview(values));
  const id = useId();
  const context: FrameContext = {
    mode: "inline",
    theme: { mode: scheme, ...(accent === null ? {} : { accent }) },
  };
  const address = `/embed/${widget.id}#${encodeURIComponent(JSON.stringify(context))}`;
  return (
    <Paper component="section" aria-labelledby={id} className={classes["preview"]}>
      <Group justify="space-between" className={classes["head"]}>
        <Title order={2} id={id}>
          Preview
        </Title>
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Width"
            value={width}
            onChange={(next) => setWidth(next as Width)}
            data={[
              { value: "desktop", label: "Desktop" },
              { value: "phone", label: "Phone" },
            ]}
          />
          <SegmentedControl
            size="xs"
            aria-label="Page background"
            value={scheme}
            onChange={(next) => setScheme(next as Scheme)}
            data={[
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark" },
            ]}
          />
        </Group>
      </Group>
      {/* A new frame for each change: the frame does not notice a changed fragment. */}
      <div className={classes["page"]} data-scheme={scheme} data-width={width}>
        <iframe
          key={[shown, widget.connectionId, JSON.stringify(widget.offer), width, address].join(" ")}
          src={address}
          title={`Preview of ${widget.name}`}
          className={classes["frame"]}
          data-preview={shown}
        />
      </div>
      <Text size="xs" c="dimmed" className={classes["note"]}>
        Try it out. Nothing is booked or counted here.
        {widget.status === "paused" && " Visitors see that the widget is paused."}
      </Text>
    </Paper>
  );
}
