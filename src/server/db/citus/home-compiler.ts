import {
  type AliasNode,
  type CompiledQuery,
  PostgresQueryCompiler,
  type ReferenceNode,
  type SelectModifierNode,
  TableNode,
} from "kysely";
import { PREPARED } from "../connections/careful-client.ts";
import type { ShardGroup } from "./shard-map.ts";

/**
 * Puts a shard group's own tables into statements: `"bookings_102042" as "bookings"` wherever a table reference says `bookings`.
 * Columns still name the table, or its alias. A prepared statement has another name for each group.
 */
export class HomeCompiler extends PostgresQueryCompiler {
  readonly #group: ShardGroup;
  /** While a column or a lock names a table. */
  #isName = false;

  constructor(group: ShardGroup) {
    super();
    this.#group = group;
  }

  override compileQuery(...args: Parameters<PostgresQueryCompiler["compileQuery"]>): CompiledQuery<never> {
    const compiled = super.compileQuery(...args) as CompiledQuery<never>;
    return { ...compiled, sql: nameForGroup(compiled.sql, this.#group) };
  }

  protected override visitTable(node: TableNode): void {
    const table = node.table.identifier.name;
    const shard = this.#isName ? undefined : this.#group.names.get(table);
    if (shard === undefined) super.visitTable(node);
    else this.append(`"${shard}" as "${table}"`);
  }

  protected override visitAlias(node: AliasNode): void {
    const shard = TableNode.is(node.node) ? this.#group.names.get(node.node.table.identifier.name) : undefined;
    if (shard === undefined) super.visitAlias(node);
    else {
      this.append(`"${shard}" as `);
      this.visitNode(node.alias);
    }
  }

  protected override visitReference(node: ReferenceNode): void {
    this.#asName(() => super.visitReference(node));
  }

  protected override visitSelectModifier(node: SelectModifierNode): void {
    this.#asName(() => super.visitSelectModifier(node));
  }

  #asName(visit: () => void): void {
    const before = this.#isName;
    this.#isName = true;
    visit();
    this.#isName = before;
  }
}

/** The same text on another group's tables must not have the same name. */
function nameForGroup(text: string, { shard }: ShardGroup): string {
  if (!text.startsWith(PREPARED)) return text;
  const end = text.indexOf("\n");
  return `${text.slice(0, end)}_${shard}${text.slice(end)}`;
}
