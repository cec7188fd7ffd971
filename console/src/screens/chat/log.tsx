/** The messages of a conversation, from the newest on, with days between them. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "~/components/button";
import { Icon } from "~/components/icons";
import { Empty } from "~/components/layout";
import { place } from "~/state/router";
import { moment } from "~/text/messages";
import { idle } from "~/text/seen";
import { Asking } from "./asking";
import { Cards } from "./cards";
import type { Conversation } from "./conversation";
import type { Message } from "./events";
import { mark } from "./find";
import { t as named } from "./log_texts";
import { MessageView } from "./message";
import { t } from "./texts";
import { type Turns, useTurns } from "./turns";

/** As many as a screen shows; those above them are drawn when the browser has nothing else to do. */
const AT_FIRST = 12;
const STEP = 7;
const SOON = 40;
const MORE = 100;

const article = (key: string) => document.getElementById(`message-${key}`);

const placeOf = (key: string | undefined) => {
  const element = key === undefined ? null : article(key);
  return key !== undefined && element ? { key, top: element.getBoundingClientRect().top } : undefined;
};

const isAtEnd = () => {
  const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
  return scrollHeight - scrollTop - clientHeight < 120;
};

const toEnd = () => scrollTo({ top: document.documentElement.scrollHeight });

export function Log({ conversation }: { conversation: Conversation }) {
  const [shown, setShown] = useState(AT_FIRST);
  const follows = useRef(true);
  const top = useRef<string | undefined>(undefined);
  const messages = conversation.messages.value;
  const live = conversation.live.value;
  const found = conversation.found.value;
  const turns = useTurns(conversation);
  const from = Math.max(0, messages.length - shown);
  const first = messages[from]?.key;
  // What is on the screen stays there when more is drawn above it: where it is has to be known before that.
  const kept = first === top.current ? undefined : placeOf(top.current);
  top.current = first;

  useEffect(() => {
    const note = () => void (follows.current = isAtEnd());
    addEventListener("scroll", note, { passive: true });
    return () => removeEventListener("scroll", note);
  }, []);
  useLayoutEffect(() => {
    if (!follows.current) return;
    // With what the frame lays out anyway: asked for at once, the whole page is laid out for it a second time.
    const next = requestAnimationFrame(() => follows.current && toEnd());
    return () => cancelAnimationFrame(next);
  }, [messages.length, live, conversation.question.value, conversation.permission.value, turns]);
  useLayoutEffect(() => {
    const now = kept && placeOf(kept.key);
    if (now) scrollBy({ top: now.top - kept.top });
  }, [first]);

  /** Draw a message that is further up, and go there. */
  const show = useCallback((key: string, words?: string) => {
    const all = conversation.messages.peek();
    const at = all.findIndex((message) => message.key === key || message.id === key);
    const message = all[at];
    if (!message) return;
    follows.current = false;
    setShown((before) => Math.max(before, all.length - at + 10));
    requestAnimationFrame(() => {
      const element = article(message.key);
      element?.scrollIntoView({ block: "center" });
      if (element && words) mark(element, words);
    });
  }, []);
  useEffect(() => {
    const asked = place.value.query.get("message");
    if (asked) show(asked);
  }, []);
  useEffect(() => {
    if (found) show(found.key, found.words);
    else if ("highlights" in CSS) CSS.highlights.delete("found");
  }, [found]);

  const isGrowing = from > 0 && shown < SOON;
  useEffect(() => {
    if (!isGrowing) return;
    let isOver = false;
    idle(() => !isOver && setShown((before) => before + STEP));
    return () => void (isOver = true);
  }, [isGrowing, shown]);

  const drawn = useSettled(conversation, turns, from, found?.key);
  if (messages.length === 0 && !live) return <Empty icon="chat" title={t("empty")} text={t("empty_text")} />;
  const earlier = async () => {
    if (from <= MORE) await conversation.earlier();
    setShown((before) => before + MORE);
  };
  return (
    <div class="log" role="log" aria-live="polite" aria-busy={conversation.isRunning.value}>
      {(from > 0 || conversation.hasEarlier.value) && <Button label={t("earlier")} kind="quiet" onPress={earlier} />}
      {/* In one list: an answer that has ended keeps its elements, and is not drawn once more. */}
      {live ? [...drawn, <MessageView key={live.key} conversation={conversation} message={live} isLive />] : drawn}
      {conversation.isRunning.value && !live?.parts.length && (
        <p class="working">
          <span class="spinner" aria-hidden="true" />
          <span>{t("works")}</span>
        </p>
      )}
      <Asking conversation={conversation} />
    </div>
  );
}

/** The messages that do not change while an answer comes in: as the same elements, which are not compared again. */
function useSettled(conversation: Conversation, turns: Turns, from: number, found: string | undefined) {
  const messages = conversation.messages.value;
  const points = conversation.points.value;
  const isRunning = conversation.isRunning.value;
  return useMemo(() => {
    const versions = new Map(points.flatMap((point) => point.versions.map(({ message }) => [message, point] as const)));
    let asked = messages.slice(0, from).findLast(({ role }) => role === "user");
    let day = dayOf(messages[from - 1]);
    return messages.slice(from).flatMap((message, index) => {
      if (message.role === "user") asked = message;
      const isLast = from + index === messages.length - 1 && !isRunning;
      const said = dayOf(message) ?? day;
      const isNewDay = said !== day && (day !== undefined || said !== new Date().toDateString());
      day = said;
      return [
        ...(isNewDay && message.time ? [<Day key={`day-${message.key}`} time={message.time} />] : []),
        <MessageView
          key={message.key}
          conversation={conversation}
          message={message}
          asked={asked}
          point={asked?.id ? versions.get(asked.id) : undefined}
          isLast={isLast}
          isFound={message.key === found}
        />,
        <Cards key={`cards-${message.key}`} conversation={conversation} turns={turns} messages={messages} place={from + index} />,
      ];
    });
  }, [messages, points, turns, from, found, isRunning]);
}

const dayOf = (message: Message | undefined) => (message?.time ? new Date(message.time).toDateString() : undefined);

function Day({ time }: { time: string }) {
  const isToday = new Date(time).toDateString() === new Date().toDateString();
  return <h2 class="day">{isToday ? named("today") : moment(time, { dateStyle: "full" })}</h2>;
}

/** The button that leads to the newest message, while that is out of sight. */
export function ToEnd() {
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const note = () => setAway(document.documentElement.scrollHeight - scrollY - innerHeight > innerHeight / 2);
    addEventListener("scroll", note, { passive: true });
    return () => removeEventListener("scroll", note);
  }, []);
  if (!isAway) return null;
  return (
    <button type="button" class="to-end" aria-label={named("to_end")} title={named("to_end")} onClick={toEnd}>
      <Icon name="down" />
    </button>
  );
}
