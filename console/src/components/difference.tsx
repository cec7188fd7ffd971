import { messages } from "~/text/messages";

const t = messages("difference", { difference: "Difference" });

const MOST_LINES = 2000;

/** A unified diff, a line each; what is longer than anybody reads is cut, and says so by its last line. */
export function Difference({ text }: { text: string }) {
  const lines = text.split("\n", MOST_LINES + 1);
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), "…"] : lines;
  return (
    <pre class="difference" tabIndex={0} aria-label={t("difference")}>
      {shown.map((line, index) => (
        <span key={index} class={kind(line)}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

function kind(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@")) return "header";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
}
