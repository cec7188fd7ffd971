/** One item as a card: what is asked, all that an answer decides about, and its answers as buttons. */
import { Button, LinkButton } from "~/components/button";
import { Dialog } from "~/components/dialog";
import { useId } from "~/components/ids";
import { Icon } from "~/components/icons";
import { Ago, Notice } from "~/components/layout";
import { keepDraft, useDrafts } from "~/state/drafts";
import { to } from "~/state/router";
import { Filled, type Values } from "./card";
import { give, type Shown } from "./kinds";
import { t } from "./texts";

const draftOf = ({ id, hash }: Shown["item"]) => `inbox/${id}/${hash}`;

const NOES = new Set(["deny", "reject"]);

export function ItemCard({ shown, onRead }: { shown: Shown; onRead: () => void }) {
  const { item, card, parts, template } = shown;
  const [values, setValues] = useDrafts<Values>(draftOf(item), {});
  const heading = useId();
  const words = card.isRead ? item.answers.filter((word) => NOES.has(word)) : item.answers;
  return (
    <article class="card" aria-labelledby={heading}>
      <header class="card-header">
        <Icon name={card.icon} />
        <h2 id={heading}>
          <Filled text={template} parts={parts} />
        </h2>
      </header>
      <Since shown={shown} />
      {!card.isRead && card.Body && <card.Body item={item} values={values} onChange={setValues} />}
      <Rest shown={shown} />
      <footer class="card-actions">
        <Ways shown={shown} />
        <Answers shown={shown} words={words} values={values} isPlain={card.isRead} />
        {card.isRead && card.Body && <Button label={card.t("read" as never)} kind="primary" onPress={onRead} />}
      </footer>
    </article>
  );
}

export function ItemDialog({ shown, onClose }: { shown: Shown; onClose: () => void }) {
  const { item, card, sentence } = shown;
  const [values, setValues] = useDrafts<Values>(draftOf(item), {});
  return (
    <Dialog
      title={sentence}
      onClose={onClose}
      isWide
      actions={
        <>
          <Ways shown={shown} />
          <Answers shown={shown} words={item.answers} values={values} onDone={onClose} />
        </>
      }
    >
      <Since shown={shown} />
      {card.Body && <card.Body item={item} values={values} onChange={setValues} />}
      <Rest shown={shown} />
    </Dialog>
  );
}

interface AnswersProps {
  shown: Shown;
  words: readonly string[];
  values: Values;
  isPlain?: boolean;
  onDone?: () => void;
}

/** Its answers, the first of them last, where the thumb is. */
function Answers({ shown, words, values, isPlain, onDone }: AnswersProps) {
  const { item, card, label } = shown;
  if (!item.may_answer) return null;
  const press = async (word: string) => {
    await give(shown, word, word === "answer" ? values : undefined);
    keepDraft(draftOf(item), "");
    onDone?.();
  };
  return (
    <>
      {[...words].reverse().map((word) => (
        <Button
          key={word}
          label={label(word)}
          kind={!isPlain && word === item.answers[0] ? "primary" : "plain"}
          disabled={word === "answer" && !card.isComplete?.(item, values)}
          onPress={() => press(word)}
        />
      ))}
    </>
  );
}

/** The time of its coming, and the conversation that it comes from. */
function Since({ shown: { item } }: { shown: Shown }) {
  return (
    <p class="muted">
      {item.since && <Ago time={item.since} />}
      {item.since && item.session_id && " · "}
      {item.session_id && <a href={to("chat", [item.session_id])}>{t("conversation")}</a>}
    </p>
  );
}

/** The place at which it is mended, or to which its link leads. */
function Ways({ shown: { item, card } }: { shown: Shown }) {
  const mends = card.mends?.(item);
  return (
    <>
      {item.link && <LinkButton label={t("open")} icon="link" href={item.link} isElsewhere />}
      {mends && <LinkButton label={"label" in mends ? mends.label : card.t(mends.key as never)} href={mends.href} />}
    </>
  );
}

/** The reason why it cannot be answered here. */
function Rest({ shown: { item, card } }: { shown: Shown }) {
  if (!item.may_answer && item.answers.length > 0) {
    return (
      <Notice kind="warning">
        <p>{t("not_yours")}</p>
      </Notice>
    );
  }
  return item.answers.length === 0 && item.command && !card.mends?.(item) ? <p>{t("only_here", { command: item.command })}</p> : null;
}
