import { List, Text } from "@mantine/core";

export function ConnectionNotes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <>
      <Text size="sm" fw={500} mt="md" mb={4}>
        Note
      </Text>
      <List size="sm" spacing={4}>
        {notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </>
  );
}
