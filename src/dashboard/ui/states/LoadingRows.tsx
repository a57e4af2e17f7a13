import { Paper, Skeleton, Stack, VisuallyHidden } from "@mantine/core";

const ROW_HEIGHT = 36;

export function LoadingRows({ count = 5 }: { count?: number }) {
  return (
    <div role="status">
      <VisuallyHidden>Loading…</VisuallyHidden>
      <Stack gap={8} px={{ base: "md", sm: "lg" }} py="md" aria-hidden>
        {Array.from({ length: count }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
          <Skeleton key={index} height={ROW_HEIGHT} radius="sm" />
        ))}
      </Stack>
    </div>
  );
}

export function LoadingCard() {
  return (
    <Paper bg="var(--surface)" bd="1px solid var(--border)" py="xs">
      <LoadingRows count={7} />
    </Paper>
  );
}
