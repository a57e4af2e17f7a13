import assert from "node:assert/strict";
import { test } from "node:test";
import { splitStatements } from "./split-statements.ts";

const CASES: readonly [text: string, statements: readonly string[]][] = [
  ["", []],
  ["-- Only a comment; nothing else.\n", []],
  ["create table a (b text);\n\ncreate table c ();", ["create table a (b text)", "create table c ()"]],
  ["select 1 -- one; two\n;select 2", ["select 1", "select 2"]],
  ["comment on table a is 'it''s; two -- here';", ["comment on table a is 'it''s; two -- here'"]],
  ['select ";" from "a--b"; select 3 - 2', ['select ";" from "a--b"', "select 3 - 2"]],
  ["do $$ begin a; b; end $$; select 1", ["do $$ begin a; b; end $$", "select 1"]],
  ["do $x$ select $$;$$; $x$; select $1", ["do $x$ select $$;$$; $x$", "select $1"]],
];

for (const [text, statements] of CASES) {
  test(`${JSON.stringify(text)} has ${statements.length} statements`, () => {
    assert.deepEqual(splitStatements(text), statements);
  });
}
