// Claude Desktop starts this; npx, which comes with Node.js, fetches what passes messages on, and starts it.
const { spawn } = require("node:child_process");

const [remote, address] = process.argv.slice(2);
// On Windows npx is a script, which only a shell starts.
const child = spawn("npx", ["-y", remote, address], { stdio: "inherit", shell: process.platform === "win32" });
child.on("error", (error) => {
  console.error(`npx cannot be started: ${error.message}. Install Node.js, from which it comes.`);
  process.exitCode = 1;
});
child.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
