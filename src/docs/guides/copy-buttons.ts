const SHOWN_MS = 2_000;

/** Each code block gets a button that copies it. Without a clipboard (plain HTTP away from localhost) there are none. */
export function addCopyButtons(page: Document): void {
  if (!navigator.clipboard) return;
  for (const panel of page.querySelectorAll(".panel")) {
    const code = panel.querySelector("code")?.textContent ?? "";
    const button = page.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    // Screen readers announce the change of the text.
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      const isCopied = await navigator.clipboard.writeText(code).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? "Copied" : "Couldn't copy";
      setTimeout(() => {
        button.textContent = "Copy";
      }, SHOWN_MS);
    });
    panel.querySelector("figcaption")?.append(button);
  }
}
