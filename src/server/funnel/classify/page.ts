/** Longer paths are cut: what tells pages apart comes first. */
const PAGE_MAX = 1024;

/**
 * The page as it is kept: origin and path. The query (also one that was encoded), the fragment and a user name, which may all
 * say who somebody is, are left out; what is no web address gives "". A path that holds one of `secrets` is left out whole.
 */
export function toPage(address: string | undefined, secrets: readonly string[] = []): string {
  if (address === undefined) return "";
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return "";
  const path = url.pathname.replace(/%(?:25)*(?:3f|23).*$/i, "");
  if (secrets.some((secret) => path.includes(secret) || path.includes(encodeURIComponent(secret)))) return url.origin;
  return (url.origin + path).slice(0, PAGE_MAX);
}
