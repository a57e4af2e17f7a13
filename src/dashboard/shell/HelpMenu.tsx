import { Group, Kbd, Menu, Modal, Table, UnstyledButton } from "@mantine/core";
import { useDisclosure, useHotkeys, useOs } from "@mantine/hooks";
import { spotlight } from "@mantine/spotlight";
import { IconApi, IconBook2, IconHelpCircle, IconKeyboard, IconSearch } from "@tabler/icons-react";
import { useNarrowSidebar } from "../hooks/screen-width.ts";
import classes from "./Navigation.module.css";

export function HelpMenu() {
  const [isOpen, shortcuts] = useDisclosure(false);
  const isNarrow = useNarrowSidebar();
  const modifier = useOs() === "macos" ? "⌘" : "Ctrl";
  // On some keyboards the question mark has a key of its own.
  useHotkeys([
    ["shift+?", shortcuts.open],
    ["?", shortcuts.open],
  ]);
  return (
    <div className={classes["help"]}>
      <UnstyledButton className={classes["item"]} onClick={spotlight.open} title={isNarrow ? "Search" : undefined}>
        <IconSearch size={19} stroke={1.6} aria-hidden />
        <span className={classes["label"]}>Search</span>
        {!isNarrow && (
          <Group gap={3} ml="auto" aria-hidden>
            <Kbd size="xs">{modifier}</Kbd>
            <Kbd size="xs">K</Kbd>
          </Group>
        )}
      </UnstyledButton>
      <Menu width={240} position="top-start" shadow="md" withinPortal={false}>
        <Menu.Target>
          <UnstyledButton className={classes["item"]} title={isNarrow ? "Help" : undefined}>
            <IconHelpCircle size={19} stroke={1.6} aria-hidden />
            <span className={classes["label"]}>Help</span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href="/docs" target="_blank" leftSection={<IconBook2 size={16} />}>
            Documentation
          </Menu.Item>
          <Menu.Item component="a" href="/docs/api" target="_blank" leftSection={<IconApi size={16} />}>
            API reference
          </Menu.Item>
          <Menu.Divider role="separator" />
          <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={shortcuts.open}>
            Keyboard shortcuts
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isOpen} onClose={shortcuts.close} title="Keyboard shortcuts">
        <Table aria-label="Keyboard shortcuts">
          <Table.Tbody>
            <Shortcut keys={[modifier, "K"]} meaning="Search" />
            <Shortcut keys={["?"]} meaning="Show keyboard shortcuts" />
            <Shortcut keys={["Esc"]} meaning="Close a dialog or menu" />
          </Table.Tbody>
        </Table>
      </Modal>
    </div>
  );
}

function Shortcut({ keys, meaning }: { keys: readonly string[]; meaning: string }) {
  return (
    <Table.Tr>
      <Table.Th fw={400}>{meaning}</Table.Th>
      <Table.Td>
        <Group gap={4} justify="flex-end">
          {keys.map((key) => (
            <Kbd key={key}>{key}</Kbd>
          ))}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
