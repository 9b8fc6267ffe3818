// The Chromium of an npm package: nothing is downloaded when it starts.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

export async function launch() {
  return puppeteer.launch({
    args: [...chromium.args, "--disable-gpu", "--lang=en-US"],
    env: { ...process.env, LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8" },
    executablePath: await chromium.executablePath(),
    headless: "shell",
  });
}
