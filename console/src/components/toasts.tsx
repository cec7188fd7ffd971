import { dismiss, toasts } from "~/state/toasts";
import { messages } from "~/text/messages";
import { Button } from "./button";

const t = messages("toasts", { dismiss: "Dismiss", notes: "Notes" });

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite" aria-label={t("notes")}>
      {toasts.value.map(({ id, text, isError, action }) => (
        <div key={id} class={`toast${isError ? " error" : ""}`} role={isError ? "alert" : undefined}>
          <p>{text}</p>
          {action && (
            <Button
              label={action.label}
              kind="quiet"
              onPress={() => {
                dismiss(id);
                action.run();
              }}
            />
          )}
          <Button label={t("dismiss")} icon="close" iconOnly kind="quiet" onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
