/** Messages that were written without a connection, in their place below what was said. */
import { Button } from "~/components/button";
import { Icon } from "~/components/icons";
import { drop, Pictures, t as named } from "~/components/unsent";
import { find, type Letter, remove } from "~/state/letters";
import { deliver } from "~/state/outbox";
import { alone } from "~/state/sending";
import { ago, moment } from "~/text/messages";
import { said } from "~/text/server_sentences";
import { t } from "./texts";

/** `onTakeBack`: the words come back into the field, to be changed. */
export function Waiting({ letters, onTakeBack }: { letters: readonly Letter[]; onTakeBack?: (text: string) => void }) {
  if (letters.length === 0) return null;
  const takeBack = ({ id, content }: Letter) =>
    alone(id, async () => {
      // Another window has sent it meanwhile.
      if (!(await find(id))) return;
      onTakeBack?.(content);
      await remove(id);
    });
  return (
    <section class="waiting-messages" aria-label={named("entries")}>
      {letters.map((letter) => (
        <article key={letter.id} class="message user waiting" aria-label={named("entries")}>
          {letter.content && <p class="plain-text" dir="auto">{letter.content}</p>}
          {letter.files && <Pictures letter={letter} />}
          {letter.problem && <p role="alert">{said(letter.problem)}</p>}
          <footer class="message-actions">
            <span class="muted" title={moment(letter.at)}>
              <Icon name="warning" /> {named("entries")} · {ago(letter.at)}
            </span>
            <Button label={named("send")} icon="send" iconOnly kind="quiet" onPress={() => deliver(letter)} />
            {onTakeBack && !letter.files && <Button label={t("take_back")} icon="edit" iconOnly kind="quiet" onPress={() => takeBack(letter)} />}
            <Button label={named("delete")} icon="trash" iconOnly kind="quiet" onPress={() => drop(letter)} />
          </footer>
        </article>
      ))}
    </section>
  );
}
