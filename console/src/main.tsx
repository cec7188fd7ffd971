/** The console's start. */
import { render } from "preact";
import "./app/confirm";
import { App } from "./app/app";
import { ready } from "./text/translations";

const root = document.getElementById("root");
void ready.then(() => root && render(<App />, root));
