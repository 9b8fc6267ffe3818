// Opens pages in headless Chromium and tells what is seen there.
//
//   node look.js JOBS.json
//
// Jobs: [{file, width, height, dark, picture}]; `picture`: a PNG to write, optional. One JSON document on stdout, an object for each job.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.js";

async function look(browser, job) {
  const page = await browser.newPage();
  const [errors, requests] = [[], []];
  page.on("console", (m) => ["error", "warn", "warning"].includes(m.type()) && errors.push(m.text()));
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("request", (r) => requests.push(r.url()));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: job.dark ? "dark" : "light" }]);
  await page.setViewport({ width: job.width, height: job.height ?? 900, deviceScaleFactor: job.scale ?? 1 });
  await page.goto(pathToFileURL(job.file).href, { waitUntil: "load" });
  const seen = await page.evaluate(inspect);
  if (job.picture) await page.screenshot({ path: job.picture, fullPage: !job.height });
  await page.close();
  return { ...seen, errors, requests };
}

// Runs in the page.
function inspect() {
  const root = document.documentElement;
  const style = getComputedStyle(document.body);
  const painted = (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] > 200) colors.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    }
    return colors.size;
  };
  const charts = [...document.querySelectorAll(".chart")].map((box) => {
    const canvas = box.querySelector("canvas");
    const figure = box.closest("figure");
    return {
      id: box.id,
      label: box.getAttribute("aria-label"),
      role: box.getAttribute("role"),
      colors: canvas ? painted(canvas) : 0,
      width: canvas ? canvas.clientWidth : 0,
      room: box.clientWidth,
      rows: figure.querySelectorAll("details tbody tr").length,
    };
  });
  const pictures = [...document.querySelectorAll(".columns svg.picture")].map((svg) => {
    const drawn = [...svg.querySelectorAll("path")].map((p) => p.getBBox());
    return {
      title: svg.querySelector("title")?.textContent ?? "",
      role: svg.getAttribute("role"),
      area: drawn.reduce((sum, b) => sum + b.width * b.height, 0),
      height: svg.getBoundingClientRect().height,
    };
  });
  const wide = [...document.querySelectorAll("body *")]
    .filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest(".scroll, pre, svg"))
    .map((e) => `${e.tagName}.${e.className}`);
  const small = [...document.querySelectorAll("main p, main td, main dd, main li")]
    .filter((e) => e.textContent.trim() && parseFloat(getComputedStyle(e).fontSize) < 12)
    .map((e) => e.textContent);
  return {
    scrollWidth: root.scrollWidth,
    clientWidth: root.clientWidth,
    background: style.backgroundColor,
    ink: style.color,
    headings: [...document.querySelectorAll("h2")].map((h) => h.textContent),
    text: document.body.innerText,
    charts,
    pictures,
    wide,
    small,
  };
}

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch();
try {
  const found = [];
  for (const job of jobs) found.push(await look(browser, job));
  process.stdout.write(JSON.stringify(found));
} finally {
  await browser.close();
}
