import assert from "node:assert/strict";
import { test } from "node:test";
import { type CsvCell, toCsvLine } from "./csv.ts";

// biome-ignore format: one case a line
const cases: [what: string, cells: CsvCell[], line: string][] = [
  ["plain text is unchanged", ["Mara Quell", "a b", "é😀"], "Mara Quell,a b,é😀\r\n"],
  ["so are numbers, even negative ones, and booleans", [1, -2.5, true], "1,-2.5,true\r\n"],
  ["a missing value is empty", [null, undefined, "", "x"], ",,,x\r\n"],
  ["a comma needs quotes", ["Quell, Mara"], '"Quell, Mara"\r\n'],
  ["a quote is doubled", ['the "best"'], '"the ""best"""\r\n'],
  ["a line break stays inside its cell", ["one\ntwo", "three\r\nfour"], '"one\ntwo","three\r\nfour"\r\n'],
  ["a formula is text", ["=1+1", "+49 30", "-5", "@SUM(A1)"], "'=1+1,'+49 30,'-5,'@SUM(A1)\r\n"],
  ["a formula after a tab or a line end is text", ["\t=1", "\r=1", "a\n=1"], `"'\t'=1","'\r'=1","a\n'=1"\r\n`],
  ["a formula after a semicolon is text", ["x;=1+1;y", "a; -1", 'b;"@A1"'], `"x;'=1+1;y","a; '-1","b;""'@A1"""\r\n`],
  ["a semicolon needs quotes", ["one; two"], '"one; two"\r\n'],
  ["a formula with quotes is text in quotes", ['=HYPERLINK("x","y")'], `"'=HYPERLINK(""x"",""y"")"\r\n`],
  ["text that merely contains such a character is unchanged", ["a=b", "mara+x@example.com"], "a=b,mara+x@example.com\r\n"],
];
for (const [what, cells, line] of cases) test(what, () => assert.equal(toCsvLine(cells), line));
