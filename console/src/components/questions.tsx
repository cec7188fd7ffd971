/** The questions of an agent, with the answers it proposes and room for another one. */
import { messages } from "~/text/messages";
import { TextField } from "./field";

const t = messages("questions", { your_answer: "Your answer", other: "Something else" });

export interface Question {
  question: string;
  header?: string;
  multiSelect?: boolean;
  options?: { label: string; description?: string }[];
}

type Values = Record<string, string | string[]>;

interface Props {
  questions: Question[];
  values: Values;
  onChange: (values: Values) => void;
}

export function Questions({ questions, values, onChange }: Props) {
  return (
    <>
      {questions.map((question) => (
        <One
          key={question.question}
          question={question}
          value={values[question.question]}
          onChange={(value) => onChange({ ...values, [question.question]: value })}
        />
      ))}
    </>
  );
}

function One({ question, value, onChange }: { question: Question; value?: string | string[]; onChange: (value: string | string[]) => void }) {
  const options = question.options ?? [];
  const chosen = Array.isArray(value) ? value : value ? [value] : [];
  const labels = options.map(({ label }) => label);
  const own = chosen.find((entry) => !labels.includes(entry)) ?? "";
  const toggle = (label: string, isOn: boolean) => {
    if (!question.multiSelect) return onChange(label);
    const others = chosen.filter((entry) => entry !== label);
    onChange(isOn ? [...others, label] : others);
  };
  const write = (text: string) => {
    const known = question.multiSelect ? chosen.filter((entry) => labels.includes(entry)) : [];
    onChange(question.multiSelect ? [...known, ...(text ? [text] : [])] : text);
  };
  return (
    <fieldset class="question">
      <legend>
        <bdi>{question.question}</bdi>
      </legend>
      {options.map(({ label, description }) => (
        <label key={label} class="option">
          <input
            type={question.multiSelect ? "checkbox" : "radio"}
            name={question.question}
            checked={chosen.includes(label)}
            onChange={(event) => toggle(label, event.currentTarget.checked)}
          />
          <span>
            <bdi>{label}</bdi>
            {description && <small>{description}</small>}
          </span>
        </label>
      ))}
      <TextField label={options.length ? t("other") : t("your_answer")} value={own} onInput={write} />
    </fieldset>
  );
}
