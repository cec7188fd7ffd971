/** One thing that waits, with all that an answer decides about. */
import { useState } from "preact/hooks";
import { Button, LinkButton } from "~/components/button";
import { Details } from "~/components/details";
import { Dialog } from "~/components/dialog";
import { Notice } from "~/components/layout";
import { type Question, Questions } from "~/components/questions";
import { type Suggestion, SuggestionBody } from "~/components/suggestion";
import { answer, type Item } from "~/state/inbox";
import { to } from "~/state/router";
import { toast } from "~/state/toasts";

import { t } from "./texts";

const YES = new Set(["approve", "allow", "apply", "always", "once", "answer", "sign_in"]);

/** The word of an answer for a person; a grant such as `allow Bash(git:*)` names what it allows. */
function label(word: string): string {
  const [first = word, ...grant] = word.split(" ");
  const known = t(first as "approve");
  return grant.length ? `${known}: ${grant.join(" ")}` : known;
}

export function ItemDialog({ item, onClose }: { item: Item; onClose: () => void }) {
  const [values, setValues] = useState<Record<string, string | string[]>>({});
  const questions = item.kind === "question" ? (item.details.questions as Question[]) : [];
  const give = async (word: string) => {
    await answer(item, word, word === "answer" ? values : undefined);
    toast(t("answered", { title: item.title }));
    onClose();
  };
  const isComplete = questions.every(({ question }) => values[question]?.length);
  const { questions: _, ...details } = item.details;
  return (
    <Dialog
      title={item.title}
      onClose={onClose}
      isWide
      actions={
        item.may_answer && (
          <>
            {[...item.answers].reverse().map((word) => (
              <Button
                key={word}
                label={label(word)}
                kind={YES.has(word) && word === item.answers[0] ? "primary" : "plain"}
                disabled={word === "answer" && !isComplete}
                onPress={() => give(word)}
              />
            ))}
          </>
        )
      }
    >
      {questions.length > 0 && <Questions questions={questions} values={values} onChange={setValues} />}
      {item.kind === "suggestion" ? (
        <SuggestionBody suggestion={item.details as unknown as Suggestion} />
      ) : (
        <Details value={questions.length ? details : item.details} />
      )}
      {item.link && <LinkButton label={t("open")} icon="link" href={item.link} isElsewhere />}
      {item.session_id && <LinkButton label={t("conversation")} icon="chat" href={to("chat", [item.session_id])} />}
      {!item.may_answer && (
        <Notice kind="warning">
          <p>{t("not_yours")}</p>
        </Notice>
      )}
      {item.answers.length === 0 && item.command && <p>{t("only_here", { command: item.command })}</p>}
    </Dialog>
  );
}
