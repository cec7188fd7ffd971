"use strict";

const byId = (id) => document.getElementById(id);

function say(text, kind) {
  byId("said").textContent = text;
  byId("said").className = kind || "";
}

// Two lines of eight groups, as `parachute tls show` prints them.
function lines(fingerprint) {
  const groups = fingerprint.split(" ");
  return `${groups.slice(0, 8).join(" ")}\n${groups.slice(8).join(" ")}`;
}

function linkTo(url) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${url}/`;
  link.textContent = url;
  item.append(link);
  return item;
}

async function show() {
  const response = await fetch("/api/tls", { cache: "no-store", credentials: "omit" });
  const state = await response.json();
  if (!response.ok) throw new Error(state.detail);
  if (!state.enabled) return say("This computer answers without encryption only, as its settings say.", "error");
  if (!state.ready) return say("The certificate is not made yet. Load this page again in a moment.");
  byId("authority").textContent = state.authority.name;
  byId("fingerprint").textContent = lines(state.authority.fingerprint);
  byId("permitted").textContent = state.authority.permitted.join(", ");
  byId("urls").replaceChildren(...state.urls.map(linkTo));
  byId("now").textContent =
    location.protocol === "https:" ? "You have come with encryption." : "You have come without encryption.";
  byId("steps").hidden = false;
  say("");
}

show().catch(() => say("The computer does not answer. Is this device still on the same network?", "error"));
