import { Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Brand } from "../shell/Brand.tsx";
import { useDocumentTitle } from "../ui/layout/Page.tsx";
import classes from "./EntryFrame.module.css";

type EntryFrameProps = { title: string; description?: ReactNode; footer?: ReactNode; children: ReactNode };

export function EntryFrame({ title, description, footer, children }: EntryFrameProps) {
  useDocumentTitle(title);
  return (
    <main className={classes["frame"]}>
      <div className={classes["column"]}>
        <div className={classes["brand"]}>
          <Brand />
        </div>
        <Paper className={classes["card"]}>
          <Stack gap="lg">
            <div>
              <Title order={1} size="1.375rem" className={classes["title"]}>
                {title}
              </Title>
              {description && (
                <Text c="dimmed" size="sm" mt={6} component="div">
                  {description}
                </Text>
              )}
            </div>
            {children}
          </Stack>
        </Paper>
        {footer && (
          <Text c="dimmed" size="sm" ta="center" component="div">
            {footer}
          </Text>
        )}
      </div>
    </main>
  );
}
