/** The address of each server that the URL names: `postgres://user@one:5432,two:5432/bookflow` names two. */
export function listHostUrls(url: string): string[] {
  const [, before = "", hosts = "", after = ""] = /^([a-z]+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/is.exec(url) ?? [];
  return hosts.includes(",") ? hosts.split(",").map((host) => before + host + after) : [url];
}
