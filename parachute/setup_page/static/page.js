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
    const detail = answer.detail || `The computer answered ${response.status}.`;
    throw new Error(answer.hint && !detail.includes(answer.hint) ? `${detail} ${answer.hint}` : detail);
  }
  return answer;
}

function say(id, text, kind) {
  const place = byId(id);
  place.className = kind || "";
  place.textContent = text;
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
  byId("provider").textContent = provider.provider ? `${provider.provider}, because ${provider.because}` : provider.because;
}

async function connect() {
  key = byId("key").value.replace(/\s+/g, "");
  const status = await call("GET", "/api/setup");
  if (!status.is_open) throw new Error("This computer is set up already.");
  byId("name").textContent = status.name || status.hostname;
  byId("address").textContent = location.origin;
  byId("time-zone").textContent = status.time_zone;
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
    say("model-said", `Saved, and it answers: ${found.models.length} models.`, "good");
  } catch (error) {
    say("model-said", `Saved, but it does not answer well: ${error.message}`, "error");
  }
}

let offered = [];

function moduleElement(module) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const text = document.createElement("pre");
  const state = module.installed ? "installed" : module.problem ? "cannot be installed" : "what it may do";
  summary.textContent = `${module.name}: ${state}`;
  text.textContent = module.installed ? "It is there." : module.problem || module.text;
  details.append(summary, text);
  return details;
}

async function listModules() {
  offered = (await call("GET", "/api/modules/official")).modules;
  byId("modules").replaceChildren(...offered.map(moduleElement));
  byId("install").disabled = !offered.some((module) => module.hash);
}

async function installModules() {
  const wanted = offered.filter((module) => module.hash);
  const progress = byId("progress");
  progress.hidden = false;
  progress.max = wanted.length;
  progress.value = 0;
  try {
    for (const module of wanted) {
      say("modules-said", `Installing ${module.name} …`);
      await call("POST", "/api/modules/install", { source: module.source, hash: module.hash });
      progress.value += 1;
    }
  } finally {
    await listModules();
  }
  say("modules-said", "All modules are installed.", "good");
  return byId("install").disabled || true;
}

async function makeKey() {
  const made = await call("POST", "/api/auth/keys", { label: byId("label").value.trim() });
  byId("server").value = location.origin;
  byId("app-key").value = made.key;
  byId("app-key-part").hidden = false;
  byId("finish").disabled = false;
  say("app-said", "The key is made.", "good");
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
  say("end-said", "This computer is set up. You can close this page.", "good");
  for (const form of ["model-form", "modules-form", "app-form"]) byId(form).hidden = true;
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
