/** Errors as sentences. */
import { ApiError } from "~/api/client";
import { messages } from "./messages";

const t = messages({
  en: {
    connection: "The computer does not answer. It is tried again as soon as it is there.",
    unknown: "Something went wrong in this page: {text}",
  },
  de: {
    connection: "Der Computer antwortet nicht. Sobald er da ist, wird es noch einmal versucht.",
    unknown: "In dieser Seite ging etwas schief: {text}",
  },
});

/** The sentence for an error, with what to do next. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.status === 0) return t("connection");
    return error.hint ? `${error.message} ${error.hint}` : error.message;
  }
  return t("unknown", { text: error instanceof Error ? error.message : String(error) });
}
