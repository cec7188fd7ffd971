/** Findings of the doctor: problems first, each with its remedy. */
import { Sentence } from "~/components/sentence";
import { mending } from "~/state/mending";
import type { Resource } from "~/state/resource";
import { api } from "~/api/client";
import { Button, LinkButton } from "~/components/button";
import { Ago, Badge, Empty, Loaded, Progress, Row, Section } from "~/components/layout";
import { useResource } from "~/state/resource";
import { toast } from "~/state/toasts";
import { said } from "~/text/server_sentences";
import type { Check, Examination } from "./models";
import { t } from "./texts";

const WORST_FIRST = ["problem", "warning", "skipped", "ok"] as const;

export function Doctor() {
  const found = useResource((signal) => api.get("/api/doctor", { signal }), "doctor", ["doctor"]);
  const examine = async () => found.set(await api.post("/api/doctor/examine"));
  return (
    <Loaded of={found}>
      {({ examined_at, is_examining, checks, repairs }) => {
        const urgent = (check: Check) => check.result === "problem" || check.result === "warning";
        const sorted = [...checks].sort((one, other) => WORST_FIRST.indexOf(one.result) - WORST_FIRST.indexOf(other.result));
        const open = sorted.filter((check) => urgent(check) && !check.is_dismissed);
        const dismissed = sorted.filter((check) => urgent(check) && check.is_dismissed);
        const rest = sorted.filter((check) => !urgent(check));
        const skipped = rest.filter(({ result }) => result === "skipped").length;
        const again = <Button label={t("examine")} icon="refresh" onPress={examine} disabled={is_examining} />;
        return (
          <>
            {is_examining && (
              <div role="status">
                <p>{t("examining")}</p>
                <Progress label={t("examining")} />
              </div>
            )}
            {open.length === 0 && !is_examining && examined_at && (
              <Empty icon="check" title={t("healthy")} text={t("healthy_text", { n: checks.length })}>
                {again}
              </Empty>
            )}
            {open.length > 0 && (
              <>
                <div class="computer-line">
                  <p class="muted">{examined_at && <Ago time={examined_at} />}</p>
                  {again}
                </div>
                <ul class="rows">
                  {open.map((check) => (
                    <Problem key={check.id} check={check} found={found} />
                  ))}
                </ul>
              </>
            )}
            {dismissed.length > 0 && (
              <Section title={t("dismissed")}>
                <ul class="rows">
                  {dismissed.map((check) => (
                    <Problem key={check.id} check={check} found={found} />
                  ))}
                </ul>
              </Section>
            )}
            {rest.length > 0 && (
              <details class="fold">
                <summary>
                  {t("other_checks", { n: rest.length - skipped })}
                  {skipped > 0 && `, ${t("skipped_checks", { n: skipped })}`}
                </summary>
                <ul class="rows">
                  {rest.map((check) => (
                    <li key={check.id} class="row">
                      <div class="row-main">
                        <div class="row-title">
                          {said(check.title)}
                          {check.result === "skipped" && <Badge text={t("skipped")} />}
                        </div>
                        <div class="row-text"><Sentence text={check.message} /></div>
                      </div>
                    </li>
                  ))}
                </ul>
              </details>
            )}
            {repairs.length > 0 && <Repairs repairs={repairs} checks={checks} />}
          </>
        );
      }}
    </Loaded>
  );
}

/** Receipts of the last repairs. */
function Repairs({ repairs, checks }: Pick<Examination, "repairs" | "checks">) {
  return (
    <details class="fold">
      <summary>{t("repairs")}</summary>
      <ul class="rows">
        {repairs.map(({ id, at, done, message }) => (
          <Row
            key={at + id}
            title={said(checks.find((check) => check.id === id)?.title ?? id)}
            badges={<Badge text={t(done ? "repaired" : "not_repaired")} kind={done ? "good" : "danger"} />}
            text={
              <>
                <bdi>{said(message)}</bdi> · <Ago time={at} />
              </>
            }
          />
        ))}
      </ul>
    </details>
  );
}

function Problem({ check, found }: { check: Check; found: Resource<Examination> }) {
  const body = { key: check.key };
  const place = mending(check.id);
  // Who can press a button needs no command.
  const isByCommand = (place !== undefined || check.can_fix) && (check.next?.includes("`") ?? false);
  const fix = async () => {
    const { message } = await api.post("/api/doctor/fix", { body });
    toast(said(message));
    await found.reload();
  };
  const dismiss = async () => found.set(await api.post("/api/doctor/dismiss", { body }));
  const undismiss = async () => found.set(await api.post("/api/doctor/undismiss", { body }));
  return (
    <li class="row computer-problem">
      <div class="row-main">
        <div class="row-title">
          {said(check.title)}
          <Badge text={t(check.result as "problem")} kind={check.result === "problem" ? "danger" : "warning"} />
        </div>
        <p>
          <Sentence text={check.message} />
        </p>
        {check.next && !isByCommand && (
          <p class="row-text">
            <Sentence text={check.next} />
          </p>
        )}
        {check.next && isByCommand && (
          <details class="fold">
            <summary>{t("command_line")}</summary>
            <p class="row-text">
              <Sentence text={check.next} />
            </p>
          </details>
        )}
        {check.details.length > 0 && (
          <details class="fold">
            <summary>{t("details")}</summary>
            <pre class="text-block" tabIndex={0}>{check.details.map((line) => said(line)).join("\n")}</pre>
          </details>
        )}
        {check.fix && (
          <p class="row-text">
            {t("fix_does")} <Sentence text={check.fix} />
          </p>
        )}
        {check.key && (
          <div class="buttons">
            {check.is_dismissed ? (
              <Button label={t("undismiss")} onPress={undismiss} />
            ) : (
              <Button label={t("dismiss")} kind="quiet" onPress={dismiss} />
            )}
            {check.can_fix && <Button label={t("fix")} kind="primary" onPress={fix} />}
            {place && !check.can_fix && <LinkButton {...place} />}
          </div>
        )}
      </div>
    </li>
  );
}
