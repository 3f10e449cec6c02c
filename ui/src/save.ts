// A figure as a file: its title above it, what is drawn below the title, its colours inside.
import { FONT } from "./chart";
import { escape } from "./dom";
import type { Theme } from "./palette";

const HEAD = 52;

export function svgFile(drawing: string, { title, about }: { title: string; about: string }, theme: Theme): string {
  const size = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(drawing) ?? /width="([\d.]+)" height="([\d.]+)"/.exec(drawing);
  const [width, height] = [Number(size?.[1] ?? 800), Number(size?.[2] ?? 400)];
  const line = (y: number, px: number, colour: string, text: string) =>
    `<text x="12" y="${y}" font-family="${escape(FONT)}" font-size="${px}" fill="${colour}"${px > 13 ? ' font-weight="600"' : ""}>${escape(text)}</text>`;
  const inner = drawing.slice(drawing.indexOf("<svg")).replace("<svg", `<svg y="${HEAD}"`).replace(/(<svg[^>]*?)\swidth="[^"]*"/, "$1").replace(/(<svg[^>]*?)\sheight="[^"]*"/, "$1")
    .replace("<svg", `<svg width="${width}" height="${height}"`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${width}" height="${height + HEAD}" viewBox="0 0 ${width} ${height + HEAD}">
<title>${escape(title)}</title>
<rect width="100%" height="100%" fill="${theme.paper}"/>
${line(22, 15, theme.ink, title)}
${line(41, 11, theme.faint, about)}
${inner}
</svg>
`;
}

export function saveSvg(drawing: string, spec: { id: string; title: string; about: string }, theme: Theme): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svgFile(drawing, spec, theme)], { type: "image/svg+xml" }));
  link.download = `isobath-${spec.id}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
