// Draws the charts that the document describes, in the colours of its style sheet, as wide as there is room.
"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const plots = new Map();
  const height = 220;

  // What the bar under the pointer says.
  function tip(spec) {
    const box = document.createElement("div");
    box.className = "tip";
    box.hidden = true;
    return {
      hooks: {
        init: (u) => u.over.appendChild(box),
        setCursor: (u) => {
          const at = u.cursor.idx;
          const bar = at == null ? undefined : spec.series.find((s) => s.values[at] != null);
          box.hidden = u.cursor.left < 0 || bar === undefined;
          if (box.hidden) return;
          const value = bar.values[at].toLocaleString("en", { maximumFractionDigits: 1 });
          box.textContent = `${spec.full[at]}: ${value} ${spec.unit}`;
          const room = Math.max(0, u.over.clientWidth - box.offsetWidth);
          box.style.left = `${Math.min(room, Math.max(0, u.cursor.left - box.offsetWidth / 2))}px`;
        },
      },
    };
  }

  function axes(spec) {
    const [ink, line] = [color("--muted"), color("--line")];
    const font = "12px system-ui, sans-serif";
    // Files are counted, bytes are not.
    const whole = Array.from({ length: 28 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));
    const tick = (v) => v.toLocaleString("en", { notation: "compact", maximumFractionDigits: 2 });
    return [
      {
        stroke: ink, font, grid: { show: false }, ticks: { show: false }, space: 62, size: 30,
        incrs: [1, 2, 5, 10, 20, 50],
        values: (_, places) => places.map((i) => spec.labels[i] ?? ""),
      },
      {
        stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { show: false }, size: 52,
        label: spec.unit, labelFont: font, labelSize: 18, labelGap: 0,
        values: (_, values) => values.map(tick), ...(spec.counts && { incrs: whole }),
      },
    ];
  }

  function draw(spec) {
    const box = document.getElementById(spec.id);
    plots.get(spec.id)?.destroy();
    const last = spec.labels.length - 1;
    const bars = uPlot.paths.bars({ size: [0.78, 44], radius: 0.12 });
    const series = spec.series.map((s) => {
      return { label: s.name, paths: bars, fill: color(s.color), width: 0, points: { show: false } };
    });
    const options = {
      width: box.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: last === 0 ? [-1.5, 1.5] : [-0.6, last + 0.6] },
        y: { range: (_, least, most) => [0, most > 0 ? most * 1.06 : 1] },
      },
      axes: axes(spec),
      series: [{}, ...series],
      plugins: [tip(spec)],
    };
    const data = [spec.labels.map((_, i) => i), ...spec.series.map((s) => s.values)];
    plots.set(spec.id, new uPlot(options, data, box));
  }

  const drawAll = () => specs.forEach(draw);
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  const resized = new ResizeObserver((entries) => {
    for (const e of entries) {
      const plot = plots.get(e.target.id);
      if (plot && plot.width !== e.target.clientWidth) plot.setSize({ width: e.target.clientWidth, height });
    }
  });
  specs.forEach((spec) => resized.observe(document.getElementById(spec.id)));
})();
