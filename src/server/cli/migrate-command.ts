import type { Command } from "./command.ts";

export const MIGRATE_COMMAND: Command = {
  name: "migrate",
  usage: "migrate [--distribute]",
  summary:
    "migrate the database (also happens at every start); --distribute spreads it over the servers of a Citus cluster",
  options: [],
  flags: ["distribute"],
  positionals: 0,
  async run({ applied }) {
    const text = applied.length === 0 ? "The database is up to date." : `Applied ${applied.join(", ")}.`;
    return { text, json: { applied } };
  },
};
