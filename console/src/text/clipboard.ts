/** Putting text on the clipboard, with a form for programs that know HTML. */

export async function copy(text: string, html?: string): Promise<void> {
  if (!navigator.clipboard) return copyWithoutTls(text, html);
  if (!html || typeof ClipboardItem === "undefined") return navigator.clipboard.writeText(text);
  const forms = { "text/plain": new Blob([text], { type: "text/plain" }), "text/html": new Blob([html], { type: "text/html" }) };
  await navigator.clipboard.write([new ClipboardItem(forms)]);
}

/** Over plain HTTP browsers have no clipboard but this. */
function copyWithoutTls(text: string, html?: string): void {
  const fill = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
    if (html) event.clipboardData?.setData("text/html", html);
  };
  const focused = document.activeElement;
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  document.addEventListener("copy", fill, { once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", fill);
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
}
