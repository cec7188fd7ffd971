/** A sentence of the server in the language of this browser, with what one types in it as code. */
import { said } from "~/text/server_sentences";

export function Sentence({ text }: { text: string }) {
  return (
    <bdi>
      {said(text)
        .split(/`([^`\n]+)`/)
        .map((piece, index) => (index % 2 ? <code key={index}>{piece}</code> : piece))}
    </bdi>
  );
}
