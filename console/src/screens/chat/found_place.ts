/** The place of a conversation at which a search has found its words: `#/chat/ID?find=words`. */
import { useEffect, useState } from "preact/hooks";
import { place } from "~/state/router";
import type { Conversation } from "./conversation";
import { textOf } from "./events";

const same = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Return the number of messages from the end that have to be drawn for the newest one with all the words, and bring it into view. */
export function useFoundPlace(conversation: Conversation): number {
  const words = same(place.value.query.get("find") ?? "").split(/\s+/).filter(Boolean);
  const asked = words.join(" ");
  const [found, setFound] = useState<{ fromEnd: number; asked: string }>();
  const messages = conversation.messages.value;
  useEffect(() => {
    if (!asked || found?.asked === asked || messages.length === 0) return;
    const index = messages.findLastIndex((message) => {
      const text = same(textOf(message));
      return words.every((word) => text.includes(word));
    });
    if (index >= 0) setFound({ fromEnd: messages.length - index, asked });
    else if (conversation.hasEarlier.value) void conversation.earlier();
  }, [asked, messages]);
  useEffect(() => {
    if (!found) return;
    const shown = document.querySelectorAll<HTMLElement>(".log .message");
    const element = shown[shown.length - found.fromEnd];
    if (!element) return;
    // Twice: what comes into view takes its real size only then.
    element.scrollIntoView({ block: "start" });
    requestAnimationFrame(() => {
      const range = marked(element, words);
      (range?.startContainer.parentElement ?? element).scrollIntoView({ block: "center" });
    });
    return unmark;
  }, [found]);
  return found?.asked === asked ? found.fromEnd + AROUND : 0;
}

const AROUND = 5;
const NAME = "found";

/** Mark the words in an element, where a browser can; the first of their places. */
function marked(element: HTMLElement, words: readonly string[]): Range | undefined {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode as Text;
    // Letters that take another number of places would move what follows.
    const text = same(node.data).length === node.data.length ? same(node.data) : node.data.toLowerCase();
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  if (typeof Highlight !== "undefined") CSS.highlights.set(NAME, new Highlight(...ranges));
  return ranges[0];
}

function unmark(): void {
  if (typeof Highlight !== "undefined") CSS.highlights.delete(NAME);
}
