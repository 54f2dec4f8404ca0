import { defineConfig, type Rollup } from "vite";
import { manifest } from "./scripts/manifest";
import { start } from "./scripts/start";

/** What tables are made of: over a slow line, one file is there earlier than a dozen small ones. */
const TABLES = /\/src\/(components\/(Content|DataTable|Meter|rows|Select|TableFrame)|labels\/entries|lib\/(address|csv|itemLines|list|state)|pages\/(FiguresTable|tables))\.tsx?$/;

/** A group that is made by hand would swallow what the first page needs, and the script that runs before it. */
function chunkOf(id: string, { getModuleInfo }: { getModuleInfo: (id: string) => Rollup.ModuleInfo | null }): string | undefined {
  const seen = new Set<string>();
  const isNeededAtFirst = (one: string): boolean => {
    if (seen.has(one)) return false;
    seen.add(one);
    const { isEntry = false, importers = [] } = getModuleInfo(one) ?? {};
    return isEntry || importers.some(isNeededAtFirst);
  };
  if (id.endsWith("/src/session/start.ts")) return "start";
  if (isNeededAtFirst(id)) return "index";
  return TABLES.test(id) ? "tables" : undefined;
}

export default defineConfig({
  base: "/ui/",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    outDir: "../static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the policy of the page allows no data: but images, and files of their own are kept for ever
    cssMinify: "esbuild",
    reportCompressedSize: false,
    rollupOptions: {
      input: { index: "index.html", start: "src/session/start.ts" },
      output: {
        manualChunks: chunkOf,
      },
    },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8080", "/ui/session": "http://127.0.0.1:8080" } },
  plugins: [start(), manifest()],
});
