/** For a program with `--help` or `-h` among its own arguments: prints how to use it, and ends it. Arguments after `--` are another's. */
export function offerHelp(usage: string): void {
  const [, , ...given] = process.argv;
  const own = given.includes("--") ? given.slice(0, given.indexOf("--")) : given;
  if (!own.includes("--help") && !own.includes("-h")) return;
  process.stdout.write(`${usage}\n`);
  process.exit();
}
