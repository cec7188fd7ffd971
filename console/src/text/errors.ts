/** Errors as sentences. */
import { ApiError } from "~/api/client";
import { messages } from "./messages";
import { said } from "./server_sentences";

const t = messages("errors", {
  no_answer: "The computer does not answer. This page is complete again when it does.",
  not_sent: "The computer does not answer, so this may not have been saved. Try again when it does.",
  unknown: "Something went wrong in this page: {text}",
});

/** The sentence for an error, with what to do next. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.status === 0) return t(error.key === "not_sent" ? "not_sent" : "no_answer");
    return error.hint ? `${said(error.message)} ${said(error.hint)}` : said(error.message);
  }
  return t("unknown", { text: error instanceof Error ? error.message : String(error) });
}
