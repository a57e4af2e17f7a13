import { Group, Paper, SegmentedControl, Text, Title } from "@mantine/core";
import { useId, useState } from "react";
import type { AppWidget } from "#contract/app/widgets.ts";
import type { Template } from "#contract/widget.ts";
import classes from "./Preview.module.css";

type PreviewProps = { widget: AppWidget; template: Template; accent: string | null };
type Scheme = "light" | "dark";

/**
 * The real booking frame in preview mode: it counts no visits, makes no bookings and shows unsaved changes
 * (src/widget/frame/preview.ts).
 */
export function Preview({ widget, template, accent }: PreviewProps) {
  const [scheme, setScheme] = useState<Scheme>("light");
  const id = useId();
  const context = {
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
      {/* A new frame for each change: the frame does not notice a changed fragment. */}
      <div className={classes["page"]} data-scheme={scheme}>
        <iframe
          key={[template, widget.businessName, widget.connectionId, address].join(" ")}
          src={address}
          title={`Preview of ${widget.name}`}
          className={classes["frame"]}
          data-preview-template={template}
        />
      </div>
      <Text size="xs" c="dimmed" className={classes["note"]}>
        Try it out. Nothing is booked or counted here.
        {widget.status === "paused" && " Visitors see that the widget is paused."}
      </Text>
    </Paper>
  );
}
