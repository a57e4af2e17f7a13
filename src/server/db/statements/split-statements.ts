// What ends where in a migration: comments, texts in quotes, and function bodies in dollar quotes may contain semicolons.
const PARTS = /--[^\n]*|'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|;|[^;'"$-]+|[$-]/g;

/** The statements of a migration. Citus refuses several in one text once the tables are distributed. */
export function splitStatements(text: string): string[] {
  const statements = [""];
  for (const [part] of text.matchAll(PARTS)) {
    if (part === ";") statements.push("");
    else if (!part.startsWith("--")) statements.push(`${statements.pop()}${part}`);
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "");
}
