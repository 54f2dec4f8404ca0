// Writes static/manifest.json: which sources were built into which files, so that a test without node can see whether they fit.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const ROOTS = ["src", "scripts"];
const FILES = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"];

function sources(): string[] {
  const below = ROOTS.flatMap((root) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes(".test."))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return [...FILES, ...below].map((path) => path.replaceAll("\\", "/")).sort();
}

function hashes(folder: string, names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, createHash("sha256").update(readFileSync(join(folder, name))).digest("hex")]),
  );
}

export function manifest(): Plugin {
  return {
    name: "limes-manifest",
    apply: "build",
    closeBundle() {
      const folder = "../static";
      const built = readdirSync(join(folder, "assets")).map((name) => `assets/${name}`).sort();
      const document = { sources: hashes(".", sources()), built: hashes(folder, ["index.html", ...built]) };
      writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(document, null, 1)}\n`);
    },
  };
}
