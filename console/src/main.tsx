/** The console's start. */
import { render } from "preact";
import "./app/confirm";
import { App } from "./app/app";

const root = document.getElementById("root");
if (root) render(<App />, root);
