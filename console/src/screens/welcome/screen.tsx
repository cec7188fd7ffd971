import type { ComponentType } from "preact";
import { Button, LinkButton } from "~/components/button";
import { Icon } from "~/components/icons";
import { Loaded, Notice, Page } from "~/components/layout";
import type { ScreenProps } from "~/screens";
import { to } from "~/state/router";
import { titles } from "./about";
import { BackupStep } from "./backup";
import { answered, isDone, type Known, type PartProps, STEPS, type StepName, type StepProps, useKnown } from "./models";
import { ModelStep } from "./model";
import { ModulesStep } from "./modules";
import { PhoneStep } from "./phone";
import { Restore } from "./restore";
import { Start } from "./start";
import { t } from "./texts";
import { broughtTo, finish, goOn } from "./ways";

const PARTS: Record<StepName, ComponentType<PartProps>> = {
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
  const isRestore = name === "restore";
  return (
    <Page key={name} title={isRestore ? t("restore") : titles("title")} back={isRestore ? to("welcome") : undefined}>
      {isRestore ? <Restore /> : <Loaded of={found}>{(known) => <Start known={known} reload={found.reload} />}</Loaded>}
    </Page>
  );
}

function before(step: StepName): string[] {
  return STEPS.slice(0, STEPS.indexOf(step)).slice(-1);
}

function Step({ name, known, reload }: { name: StepName } & StepProps) {
  const Part = PARTS[name];
  const next = STEPS[STEPS.indexOf(name) + 1];
  const isReady = isDone(name, known);
  const kind = isReady ? "primary" : "plain";
  return (
    <div class={`welcome-step${broughtTo.value === name ? " welcome-came" : ""}`}>
      <Way current={name} known={known} />
      {name === "modules" && <Answered />}
      <p>{t(`${name}_text`)}</p>
      <Part known={known} reload={reload} onDone={() => goOn(name)} />
      <div class="welcome-next">
        {next ? (
          <LinkButton label={t(isReady ? "next" : "skip")} kind={kind} href={to("welcome", [next])} />
        ) : (
          <Button label={t("finish")} kind={kind} onPress={() => finish(!STEPS.every((step) => isDone(step, known)))} />
        )}
      </div>
    </div>
  );
}

/** The proof that the model answers, on the screen that follows it by itself. */
function Answered() {
  const trial = answered.value;
  return (
    <div role="status">
      {trial && (
        <Notice kind="good">
          <p>{t("answers", { model: trial.model })}</p>
          <p>
            <bdi>{trial.text}</bdi>
          </p>
        </Notice>
      )}
    </div>
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
