/** Search in all messages of one conversation: that of the browser sees only what is drawn. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { place } from "~/state/router";
import type { Conversation } from "./conversation";
import { textOf } from "./events";
import { t } from "./log_texts";

/** Letters without case and marks, by which words are compared. */
const same = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

export function Find({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const [words, setWords] = useState(() => place.value.query.get("find") ?? "");
  const [chosen, setChosen] = useState<number>();
  const field = useRef<HTMLInputElement>(null);
  const messages = conversation.messages.value;
  const wanted = same(words.trim());
  const found = useMemo(() => {
    const all = wanted.split(/\s+/).filter(Boolean);
    const has = (text: string) => all.length > 0 && all.every((word) => text.includes(word));
    return messages.filter((message) => has(same(textOf(message)))).map(({ key }) => key);
  }, [messages, wanted]);
  const shown = Math.min(chosen ?? found.length - 1, found.length - 1);
  const key = found[shown];
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    void conversation.earlier().catch(() => undefined);
    return () => void (conversation.found.value = undefined);
  }, []);
  useEffect(() => void (conversation.found.value = key ? { key, words: wanted } : undefined), [key, wanted]);
  const step = (by: number) => found.length > 0 && setChosen((shown + by + found.length) % found.length);
  return (
    <search class="find">
      <input
        ref={field}
        type="search"
        value={words}
        aria-label={t("find")}
        placeholder={t("find")}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setChosen(undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          if (event.key === "Enter") step(event.shiftKey ? 1 : -1);
        }}
      />
      <span class="muted" role="status">
        {wanted && (found.length ? t("found", { shown: shown + 1, all: found.length }) : t("found_none"))}
      </span>
      <Button label={t("find_previous")} icon="back" iconOnly kind="quiet" disabled={found.length < 2} onPress={() => step(-1)} />
      <Button label={t("find_next")} icon="forward" iconOnly kind="quiet" disabled={found.length < 2} onPress={() => step(1)} />
      <Button label={t("close_find")} icon="close" iconOnly kind="quiet" onPress={onClose} />
    </search>
  );
}

/** Mark words within an element, where the browser can do so without changing it. */
export function mark(element: Element, words: string): void {
  if (!("highlights" in CSS)) return;
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && ranges.length < 200) {
    const node = texts.currentNode as Text;
    // Letters that take another number of places would move what follows.
    const text = same(node.data).length === node.data.length ? same(node.data) : node.data.toLowerCase();
    for (const word of words.split(/\s+/).filter(Boolean)) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
