/** Longer paths are cut: what tells pages apart comes first. */
const PAGE_MAX = 1024;

/**
 * The page as it is kept: origin and path. The query, the fragment and a user name, which may all say who somebody is, are
 * left out; what is no web address gives "".
 */
export function toPage(address: string | undefined): string {
  if (address === undefined) return "";
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return "";
  return (url.origin + url.pathname).slice(0, PAGE_MAX);
}
