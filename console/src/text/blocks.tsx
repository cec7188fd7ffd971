/** Code, tables and diagrams with a line above them: what it is, and buttons that copy it. */
import { render } from "preact";
import { useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Picture } from "~/components/picture";
import { toast } from "~/state/toasts";
import { copy } from "./clipboard";
import { type Drawn, drawn } from "./diagrams";
import { highlight } from "./highlight";
import { messages } from "./messages";
import { whenSeen } from "./seen";

const t = messages("blocks", {
  code: "Code",
  table: "Table",
  diagram: "Diagram",
  copy_code: "Copy the code",
  copy_table: "Copy the table",
  copied: "Copied.",
  show_source: "Show the source",
  show_diagram: "Show the diagram",
});

const MERMAID = "mermaid";

/** Put a line above each block of code and each table; a diagram is drawn once its text is complete. */
export function frame(root: ParentNode, isOpen: boolean): void {
  for (const code of root.querySelectorAll<HTMLElement>("pre > code")) {
    const name = /language-(\S+)/.exec(code.className)?.[1];
    const block = code.parentElement as HTMLElement;
    block.tabIndex = 0;
    const text = code.textContent ?? "";
    const line = above(block);
    const bar = (diagram?: Drawn) => <Bar name={name ?? t("code")} label={t("copy_code")} onCopy={() => copy(text)} diagram={diagram} />;
    render(bar(), line);
    if (name !== MERMAID) void highlight(code);
    else if (!isOpen) whenSeen(block, () => drawn(line, text, (diagram) => render(bar(diagram), line)));
  }
  for (const table of root.querySelectorAll<HTMLElement>("table")) {
    table.tabIndex = 0;
    const forms = () => copy(tabbed(table), new XMLSerializer().serializeToString(table));
    render(<Bar name={t("table")} label={t("copy_table")} onCopy={forms} />, above(table));
  }
}

function above(block: HTMLElement): HTMLElement {
  const figure = document.createElement("figure");
  figure.className = "block";
  block.replaceWith(figure);
  const line = document.createElement("div");
  figure.append(line, block);
  return line;
}

/** A table as text: a line for a row, a tab between cells. */
function tabbed(table: HTMLElement): string {
  const cells = (row: Element) => [...row.children].map((cell) => (cell.textContent ?? "").replace(/\s+/g, " ").trim());
  return [...table.querySelectorAll("tr")].map((row) => cells(row).join("\t")).join("\n");
}

interface BarProps {
  name: string;
  label: string;
  onCopy: () => Promise<void>;
  diagram?: Drawn;
}

function Bar({ name, label, onCopy, diagram }: BarProps) {
  const [isSource, setSource] = useState(false);
  const press = async () => {
    await onCopy();
    toast(t("copied"));
  };
  return (
    <>
      <div class="block-bar">
        <bdi>{name}</bdi>
        {diagram && <Button label={t(isSource ? "show_diagram" : "show_source")} kind="quiet" onPress={() => setSource(!isSource)} />}
        <Button label={label} icon="copy" iconOnly kind="quiet" onPress={press} />
      </div>
      {diagram && !isSource && (
        <div class="diagram">
          <Picture name={t("diagram")} {...diagram} />
        </div>
      )}
    </>
  );
}
