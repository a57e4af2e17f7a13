import css from "./loader.css?inline";

/** Elements are made one by one: markup in texts would need the leave of a page that asks for trusted types. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties?: Partial<HTMLElementTagNameMap[Tag]>,
  ...children: Node[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Closed: the page's scripts and styles stay outside. Styles are made by script, so that no `style-src` forbids them. */
export function attachRoot(host: HTMLElement): ShadowRoot {
  const root = host.attachShadow({ mode: "closed", delegatesFocus: true });
  const styles = new CSSStyleSheet();
  styles.replaceSync(css);
  root.adoptedStyleSheets = [styles];
  return root;
}

/** An element of our own in the page. It stands beside the body, which many pages fill anew. */
export function addHost(kind: "popup" | "float", content: Node): HTMLElement {
  const host = make("div");
  host.dataset["svc"] = kind;
  attachRoot(host).append(content);
  document.documentElement.append(host);
  return host;
}
