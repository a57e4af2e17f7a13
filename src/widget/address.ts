import {
  EMAIL_IN_TEXT,
  LINK_PARAMETERS,
  type LinkField,
  type LinkParameter,
  toLinkField,
} from "#contract/analytics/attribution-fields.ts";

// What we keep of an address: its origin and path, and its campaign parameters unless they are too long. The rest of a query
// may identify a person, and so may anything that looks like an email address.

export type Tags = { [Name in LinkField]?: string };

/** Empty unless the address is a web page or an app. */
type Address = {
  /** Approximately the registrable domain, since the loader has no list of suffixes; the server decides again. */
  site: string;
  /** The origin with a slash. */
  root: string;
  /** Including the path. */
  place: string;
  /** Including the kept parameters. */
  whole: string;
  tags: Tags;
};

const VALUE_MAX = 300;
const VALUES_MAX = 600;
const PLACE_MAX = 500;
const WHOLE_MAX = 1000;

/** Values that contain the value of a dropped parameter are left out too: tracking templates such as `utm_campaign={gclid}` exist. */
export function readAddress(text: string, dropped: readonly LinkParameter[] = []): Address {
  const tags: Tags = {};
  const address: Address = { site: "", root: "", place: "", whole: "", tags };
  try {
    const { protocol, host, hostname, pathname, searchParams } = new URL(text);
    if (!/^(http|android-app)/.test(protocol)) return address;
    address.site = toSite(hostname);
    address.root = `${protocol}//${host}/`;
    const place = address.root + pathname.slice(1);
    address.place = place.length > PLACE_MAX || EMAIL_IN_TEXT.test(pathname) ? address.root : place;
    const query = new URLSearchParams();
    let room = VALUES_MAX;
    for (const parameter of LINK_PARAMETERS) {
      const value = searchParams.get(parameter) ?? "";
      const { length } = value;
      // Values that are too long are dropped, because a truncated click id would be wrong.
      if (!length || length > VALUE_MAX || length > room || EMAIL_IN_TEXT.test(value)) continue;
      // No value contains the whole address.
      if (dropped.some((other) => value.includes(searchParams.get(other) || text))) continue;
      room -= length;
      query.set(parameter, value);
      tags[toLinkField(parameter)] = value;
    }
    const whole = `${address.place}?${query}`;
    address.whole = room < VALUES_MAX && whole.length < WHOLE_MAX ? whole : address.place;
  } catch {
    // Usually an empty referrer.
  }
  return address;
}

/** `example.co.uk` for both shop.example.co.uk and www.example.co.uk; the whole of an IP address. */
function toSite(host: string): string {
  return /\d$/.test(host) ? host : (/[^.]+\.((com?|org|net|ac)\.)?[^.]+$/.exec(host)?.[0] ?? host);
}
