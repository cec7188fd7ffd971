/** Request of the agent before it goes on: a question, or permission to use a tool. */
import { Button } from "~/components/button";
import { Details } from "~/components/details";
import { Questions } from "~/components/questions";
import { keepDraft, useDrafts } from "~/state/drafts";
import { said } from "~/text/server_sentences";
import type { Conversation } from "./conversation";
import { t } from "./texts";

export function Asking({ conversation }: { conversation: Conversation }) {
  const question = conversation.question.value;
  const permission = conversation.permission.value;
  return (
    <>
      {question && <Ask key={question.requestId} conversation={conversation} />}
      {permission && (
        <section class="asking" aria-label={t("asks")}>
          <h2>{t("permission", { tool: permission.toolName })}</h2>
          <p>{said(permission.reason)}</p>
          <Details value={permission.input} />
          <div class="buttons">
            <Button label={t("deny")} onPress={() => conversation.permit(false)} />
            {permission.suggestedGrants.map((grant) => (
              <Button key={grant} label={t("allow_always", { grant })} onPress={() => conversation.permit(true, grant)} />
            ))}
            <Button label={t("allow")} onPress={() => conversation.permit(true)} />
          </div>
        </section>
      )}
    </>
  );
}

function Ask({ conversation }: { conversation: Conversation }) {
  const name = `question/${conversation.question.value?.requestId}`;
  const [values, setValues] = useDrafts<Record<string, string | string[]>>(name, {});
  const questions = conversation.question.value?.questions ?? [];
  const answer = async () => {
    await conversation.answer(values);
    keepDraft(name, "");
  };
  return (
    <section class="asking" aria-label={t("asks")}>
      <Questions questions={questions} values={values} onChange={setValues} />
      <div class="buttons">
        <Button
          label={t("answer")}
          kind="primary"
          disabled={!questions.every(({ question }) => values[question]?.length)}
          onPress={answer}
        />
      </div>
    </section>
  );
}
