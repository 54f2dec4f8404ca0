// Has the page run its first script beside the others, and not after them.
import type { Plugin } from "vite";

export function start(): Plugin {
  return {
    name: "limes-start",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle }) {
        const chunk = Object.values(bundle ?? {}).find((one) => one.type === "chunk" && one.isEntry && one.name === "start")!;
        return [{ tag: "script", attrs: { type: "module", async: true, crossorigin: true, src: `/ui/${chunk.fileName}` }, injectTo: "head" }];
      },
    },
  };
}
