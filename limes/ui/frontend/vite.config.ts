import { defineConfig } from "vite";
import { manifest } from "./scripts/manifest";
import { start } from "./scripts/start";

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
        manualChunks: (id) => (/node_modules\/(@?preact)|\/src\/(components\/(?!Chart)|lib\/|api\/|session\/(?!start))/.test(id) ? "shared" : undefined),
      },
    },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8080", "/ui/session": "http://127.0.0.1:8080" } },
  plugins: [start(), manifest()],
});
