import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";

/** Stands where rows will be, as tall as they will be. */
export function LoadingRows({ count = 5, height = 44 }: { count?: number; height?: number }) {
  return (
    <div role="status">
      <VisuallyHidden>Loading …</VisuallyHidden>
      <Stack gap={8} p="md" aria-hidden>
        {Array.from({ length: count }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
          <Skeleton key={index} height={height - 8} radius="sm" />
        ))}
      </Stack>
    </div>
  );
}
