import type { ComponentType } from "preact";
import { LinkButton } from "~/components/button";
import { Icon } from "~/components/icons";
import { Loaded, Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { to } from "~/state/router";
import { BackupStep } from "./backup";
import { End } from "./end";
import { isDone, type Known, STEPS, type StepName, type StepProps, useKnown } from "./models";
import { ModelStep } from "./model";
import { ModulesStep } from "./modules";
import { PhoneStep } from "./phone";
import { Restore } from "./restore";
import { Start } from "./start";
import { t } from "./texts";

const PARTS: Record<StepName, ComponentType<StepProps>> = {
  model: ModelStep,
  modules: ModulesStep,
  phone: PhoneStep,
  backup: BackupStep,
};

function isStep(name: string | undefined): name is StepName {
  return STEPS.some((step) => step === name);
}

export default function Welcome({ rest }: ScreenProps) {
  const found = useKnown();
  const name = rest[0];
  if (isStep(name)) {
    return (
      <Page key={name} title={t(name)} back={to("welcome", before(name))}>
        <Loaded of={found}>{(known) => <Step name={name} known={known} reload={found.reload} />}</Loaded>
      </Page>
    );
  }
  const isPart = name === "restore" || name === "end";
  return (
    <Page key={name} title={t(isPart ? name : "title")} back={isPart ? to("welcome", name === "end" ? ["backup"] : []) : undefined}>
      {name === "restore" ? (
        <Restore />
      ) : (
        <Loaded of={found}>{(known) => (name === "end" ? <End known={known} /> : <Start setup={known.setup} />)}</Loaded>
      )}
    </Page>
  );
}

function before(step: StepName): string[] {
  return STEPS.slice(0, STEPS.indexOf(step)).slice(-1);
}

function Step({ name, known, reload }: { name: StepName } & StepProps) {
  const Part = PARTS[name];
  const next = STEPS[STEPS.indexOf(name) + 1] ?? "end";
  const isReady = isDone(name, known);
  return (
    <>
      <Way current={name} known={known} />
      <p>{t(`${name}_text`)}</p>
      <Part known={known} reload={reload} />
      <div class="welcome-next">
        <LinkButton label={t(isReady ? "next" : "skip")} kind={isReady ? "primary" : "plain"} href={to("welcome", [next])} />
      </div>
    </>
  );
}

/** All steps, which of them are done, and where one is. */
function Way({ current, known }: { current: StepName; known: Known }) {
  return (
    <nav aria-label={t("steps")}>
      <ol class="welcome-way">
        {STEPS.map((step, index) => (
          <li key={step}>
            <a href={to("welcome", [step])} aria-current={step === current ? "step" : undefined}>
              {isDone(step, known) ? <Icon name="check" /> : <span class="welcome-number">{index + 1}</span>}
              <span>{t(`${step}_short`)}</span>
              {isDone(step, known) && <span class="visually-hidden">{t("done")}</span>}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
