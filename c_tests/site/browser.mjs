// Reads the site in a browser, at the widths of a desk and of a phone: no page is wider than the
// window or reports an error, nothing is fetched from elsewhere, and the search finds a function.
//
// Usage: node browser.mjs SITE BROWSER PICTURES
//   SITE      the site's folder
//   BROWSER   the program
//   PICTURES  receives a few screenshots
import { createReadStream, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import puppeteer from "puppeteer-core";

const [site, program, pictures] = process.argv.slice(2);
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml" };
const server = createServer((request, response) => {
  let file = join(site, decodeURIComponent(new URL(request.url, "http://site").pathname));
  if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
  response.writeHead(existsSync(file) ? 200 : 404, { "content-type": types[extname(file)] ?? "application/octet-stream" });
  existsSync(file) ? createReadStream(file).pipe(response) : response.end();
});
await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
const home = `http://127.0.0.1:${server.address().port}`;
const pages = readdirSync(site, { recursive: true }).filter(name => name.endsWith("index.html")).map(name => name.slice(0, -"index.html".length)).sort();

let failed = 0;
const wrong = text => { failed++; console.log(`FAILED  site: ${text}`); };
const browser = await puppeteer.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });
const tab = await browser.newPage();
tab.on("pageerror", error => wrong(`${tab.url()}: ${error}`));
tab.on("response", response => { if (response.status() >= 400) wrong(`${response.url()}: ${response.status()}`); });
tab.on("request", request => { if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(home)) wrong(`${tab.url()} fetches ${request.url()}`); });

mkdirSync(pictures, { recursive: true });
const shown = ["", "install/", "python/", "choosing-a-schedule/", "reference/MPIX_Neighbor_alltoallv/"];
for (const page of pages) {
  await tab.goto(`${home}/${page}`, { waitUntil: "load" });
  for (const width of [1400, 390]) {
    await tab.setViewport({ width, height: 900 });
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) wrong(`/${page} is ${wide} wide in a window of ${width}`);
    if (shown.includes(page)) await tab.screenshot({ path: join(pictures, `${page.replaceAll("/", "-") || "index-"}${width}.png`) });
  }
}
await tab.setViewport({ width: 1400, height: 900 });

// by the keyboard, from the first page
for (const words of ["MPIX_Request_wait_source", "LD_PRELOAD", "neighborhood collective"]) {
  await tab.goto(home, { waitUntil: "load" });
  await tab.focus("input[name=query]");
  await tab.keyboard.type(words);
  try {
    await tab.waitForSelector(".md-search-result__item a", { timeout: 30000 });
    await tab.screenshot({ path: join(pictures, "search.png") });
    const found = await tab.$$eval(".md-search-result__item a", links => links.map(link => link.href));
    await tab.goto(found[0], { waitUntil: "load" });
    const text = await tab.evaluate(() => document.body.innerText);
    if (!words.split(" ").every(word => text.toLowerCase().includes(word.toLowerCase()))) wrong(`the search for ${words} leads to ${found[0]}`);
  } catch (error) {
    wrong(`the search for ${words}: ${error.message}`);
  }
}
await browser.close();
server.close();
console.log(`site: ${pages.length} pages in a browser at two widths, three searches: ${failed} failed`);
process.exit(failed ? 1 : 0);
