import css from "./loader.css?inline";

/** Creates elements one by one, because pages with Trusted Types refuse markup in strings. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties?: Partial<HTMLElementTagNameMap[Tag]>,
  ...children: Node[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** A closed shadow root keeps out the page's scripts and styles. Constructed stylesheets are not subject to `style-src`. */
export function attachRoot(host: HTMLElement): ShadowRoot {
  const root = host.attachShadow({ mode: "closed", delegatesFocus: true });
  const styles = new CSSStyleSheet();
  styles.replaceSync(css);
  root.adoptedStyleSheets = [styles];
  return root;
}

/** Adds our own element to the page, next to the body, because many pages replace the body's content. */
export function addHost(kind: "popup" | "float", ...content: Node[]): HTMLElement {
  const host = make("div");
  host.dataset["svc"] = kind;
  attachRoot(host).append(...content);
  document.documentElement.append(host);
  return host;
}
