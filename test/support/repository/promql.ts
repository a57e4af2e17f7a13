// Which metrics and labels a PromQL expression uses, without evaluating it.

export type PromqlUse = { readonly metrics: readonly string[]; readonly labels: readonly string[] };

const KEYWORDS = new Set([
  "and",
  "bool",
  "by",
  "group_left",
  "group_right",
  "ignoring",
  "offset",
  "on",
  "or",
  "unless",
  "without",
]);
const NAME = /(?<![\w.:$])[a-zA-Z_:][\w:]*/g;

export function readPromql(expression: string): PromqlUse {
  const labels: string[] = [];
  const bare = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\{([^}]*)\}/g, (_whole, matchers: string) => {
      labels.push(...(matchers.match(NAME) ?? []));
      return "";
    })
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_whole, list: string) => {
      labels.push(...(list.match(NAME) ?? []));
      return "";
    });
  const metrics = [...bare.matchAll(NAME)]
    .filter(({ 0: name, index }) => !KEYWORDS.has(name) && !/^\s*\(/.test(bare.slice(index + name.length)))
    .map(([name]) => name);
  return { metrics: [...new Set(metrics)], labels: [...new Set(labels)] };
}
