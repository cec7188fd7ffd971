"use strict";

// The key lives in this variable only: it is in no address, no storage and no cookie, and a reload forgets it.
let key = "";

const byId = (id) => document.getElementById(id);

async function call(method, path, body) {
  const options = { method, cache: "no-store", credentials: "omit", headers: { Authorization: `Bearer ${key}` } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The computer does not answer. Is this device still on the same network?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    // The name of a field, with which programs are helped, says nothing to a person before a form.
    const detail = (answer.detail || `The computer answered ${response.status}.`).replace(/^[a-z_]+: /, "");
    const error = new Error(answer.hint ? `${detail} ${answer.hint}` : detail);
    error.status = response.status;
    throw error;
  }
  return answer;
}

// What stands between backticks is a command or a name.
function withCode(text) {
  return text.split("`").map((part, index) => {
    if (index % 2 === 0) return part;
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}

function say(id, text, kind) {
  const place = byId(id);
  place.className = kind || "";
  place.replaceChildren(...withCode(text));
}

// One submission at a time, and what went wrong said beside its button.
function onSubmit(form, said, action) {
  const element = byId(form);
  const button = element.querySelector("button");
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    element.setAttribute("aria-busy", "true");
    say(said, "One moment …");
    let stays = false;
    try {
      stays = await action();
    } catch (error) {
      say(said, error.message, "error");
    }
    element.removeAttribute("aria-busy");
    button.disabled = stays === true;
  });
}

function showProvider(provider) {
  const choice = provider.provider && document.querySelector(`input[name=provider][value=${provider.provider}]`);
  const name = choice ? choice.closest("label").textContent.trim() : "nothing yet";
  byId("provider").replaceChildren(...withCode(`${name}, because ${provider.because}`));
  if (choice) choice.checked = true;
  showFields();
}

async function connect() {
  key = byId("key").value.replace(/\s+/g, "");
  const status = await call("GET", "/api/setup").catch((error) => {
    if (error.status !== 401) throw error;
    throw new Error("This key is not valid. Scan the code on the screen again, or run `parachute first-boot` for a new one.");
  });
  if (!status.is_open) throw new Error("This computer is set up already.");
  byId("name").textContent = status.name || status.hostname;
  byId("address").textContent = location.origin;
  byId("time-zone").textContent = status.time_zone;
  byId("time-zone-hint").hidden = !/^(Etc\/)?(UTC|Universal|Zulu|GMT)$/.test(status.time_zone);
  byId("vault").textContent = status.vault;
  byId("version").textContent = status.version;
  showProvider(status.provider);
  byId("key").value = "";
  byId("entry").hidden = true;
  byId("steps").hidden = false;
  byId("computer-title").focus();
  await listModules();
}

function chosenProvider() {
  return document.querySelector("input[name=provider]:checked").value;
}

function showFields() {
  for (const part of document.querySelectorAll("[data-for]")) {
    part.hidden = !part.dataset.for.split(" ").includes(chosenProvider());
  }
  byId("base-url").required = chosenProvider() === "compatible";
}

async function saveModel() {
  const choice = { provider: chosenProvider() };
  const secret = byId("secret").value.trim();
  if (choice.provider === "compatible") {
    choice.base_url = byId("base-url").value.trim();
    if (byId("model").value.trim()) choice.model = byId("model").value.trim();
  }
  if (choice.provider !== "offline" && secret) choice.secret = secret;
  showProvider(await call("PUT", "/api/provider", choice));
  byId("secret").value = "";
  if (choice.provider === "offline") {
    say("model-said", "Saved.", "good");
    return;
  }
  say("model-said", "Saved. Asking whether it works …");
  try {
    const found = await call("GET", "/supervisor/models");
    say("model-said", `Saved, and it answers: ${found.models.length} ${found.models.length === 1 ? "model" : "models"}.`, "good");
  } catch (error) {
    say("model-said", `Saved, but the test failed: ${error.message}`, "error");
  }
}

let offered = [];

function titleOf(module) {
  return module.name[0].toUpperCase() + module.name.slice(1);
}

function moduleElement(module) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  const name = document.createElement("b");
  label.className = "choice";
  box.type = "checkbox";
  box.value = module.name;
  box.checked = Boolean(module.installed || module.hash);
  box.disabled = !module.hash;
  name.textContent = titleOf(module);
  const about = module.installed ? ": installed" : `: ${module.problem || module.description}`;
  const words = document.createElement("span");
  words.append(name, about);
  label.append(box, words);
  const part = document.createElement("div");
  part.append(label);
  if (module.text) {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const text = document.createElement("pre");
    summary.textContent = `What ${titleOf(module)} may do`;
    text.textContent = module.text;
    details.append(summary, text);
    part.append(details);
  }
  return part;
}

async function listModules() {
  offered = (await call("GET", "/api/modules/official")).modules;
  byId("modules").replaceChildren(...offered.map(moduleElement));
  for (const box of document.querySelectorAll("#modules input")) box.addEventListener("change", allowInstalling);
  allowInstalling();
}

function chosenModules() {
  const chosen = [...document.querySelectorAll("#modules input:checked:enabled")].map((box) => box.value);
  return offered.filter((module) => chosen.includes(module.name));
}

function allowInstalling() {
  byId("install").disabled = chosenModules().length === 0;
}

async function installModules() {
  const wanted = chosenModules();
  const progress = byId("progress");
  progress.hidden = false;
  progress.max = wanted.length;
  progress.value = 0;
  try {
    for (const module of wanted) {
      say("modules-said", `Installing ${titleOf(module)} …`);
      await call("POST", "/api/modules/install", { source: module.source, hash: module.hash });
      progress.value += 1;
    }
  } finally {
    await listModules();
  }
  say("modules-said", `Installed: ${wanted.map(titleOf).join(", ")}.`, "good");
  return byId("install").disabled;
}

async function makeKey() {
  const made = await call("POST", "/api/auth/keys", { label: byId("label").value.trim() });
  byId("server").value = location.origin;
  byId("app-key").value = made.key;
  byId("app-key-part").hidden = false;
  byId("finish").disabled = false;
  byId("finish-hint").textContent = "The key from the computer's screen ends now. Copy the key of your app first.";
  // Another click would make another key, and the one that is shown would be lost.
  byId("app-form").hidden = true;
}

async function copy(id) {
  const input = byId(id);
  input.select();
  // Browsers give pages without TLS no clipboard of their own.
  const copied = navigator.clipboard
    ? await navigator.clipboard.writeText(input.value).then(() => true, () => false)
    : document.execCommand("copy");
  if (copied) say("copy-said", "Copied.", "good");
  else say("copy-said", "It is selected: copy it by hand.");
}

async function finish() {
  await call("POST", "/api/setup/finish", {});
  key = "";
  say("end-said", "This computer is set up. Go on in the Parachute app; you can close this page.", "good");
  for (const part of ["model-form", "modules-form", "finish-hint"]) byId(part).hidden = true;
  return true;
}

onSubmit("entry-form", "entry-said", connect);
onSubmit("model-form", "model-said", saveModel);
onSubmit("modules-form", "modules-said", installModules);
onSubmit("app-form", "app-said", makeKey);
onSubmit("end-form", "end-said", finish);
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", () => copy(button.dataset.copies));
}
for (const choice of document.querySelectorAll("input[name=provider]")) choice.addEventListener("change", showFields);
showFields();

// The code on the computer's screen brings the key behind a #, which browsers send to nobody. Out of the address bar with
// it, so that it stays neither in the history nor in a photograph of this page.
const given = new URLSearchParams(location.hash.slice(1)).get("key");
if (given) {
  history.replaceState(null, "", location.pathname);
  byId("key").value = given;
  byId("entry-form").requestSubmit();
}
