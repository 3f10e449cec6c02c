import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { hash } from "./sources.mjs";

/** The notices of what is in the page beside our own code, as their licences ask. */
function notices(): string {
  const texts = ["echarts/NOTICE", "zrender/LICENSE", "tslib/LICENSE.txt"].map((path) => `${path}\n\n${readFileSync(`node_modules/${path}`, "utf8").trim()}`);
  const text = `This page contains Apache ECharts (Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0), ZRender and tslib.\n\n${texts.join("\n\n")}`;
  return `<!--\n${text.replaceAll("--", "- -")}\n-->`;
}

/** Puts the one script and the one style sheet into the page, and the hash of the sources. */
function singleFile(): Plugin {
  return {
    name: "isobath-single-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("no page was built");
      let html = String(page.source).replace("ISOBATH-UI-SOURCES", hash());
      let scripts = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file === page) continue;
        if (file.type === "chunk") {
          scripts += `<script type="module">${file.code.replaceAll("</script", "<\\/script")}</script>`;
        } else {
          // A function as the second argument: in a text "$&" would have a meaning.
          html = html.replace("</head>", () => `<style>${String(file.source)}</style></head>`);
        }
        delete bundle[name];
      }
      html = html.replace(/<script type="module"[^>]*src=[^>]*><\/script>/g, "").replace(/<link rel="(stylesheet|modulepreload)"[^>]*>/g, "");
      page.source = html.replace("</body>", () => `${scripts}${notices()}</body>`);
    },
  };
}

export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    assetsInlineLimit: 1e9,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4_000,
    target: "es2022",
  },
  plugins: [singleFile()],
});
