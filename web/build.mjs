// Builds the page of `clusterspec edit` into templates/editor, and what only the playground has into a given folder.
//
//   node build.mjs             the page of `edit`: committed, with the hashes of its sources and of its files
//   node build.mjs FOLDER      the playground: page, worker and service worker, for tools/site

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2];
const out = target ?? join(here, "..", "templates", "editor");
const shared = { bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none" };

const WORDS = {
  edit: { ENGINE: "server", TOOLS: '<button type="button" disabled>New spec</button> <button type="button" disabled>Save</button>', LOADING: "Reading the file …", POLICY: "", HOME: "<span>clusterspec</span>", PROMISE: "Only this machine reaches this page. It reads and writes one file: the one named in the terminal." },
  playground: { ENGINE: "worker", TOOLS: '<button type="button" disabled>New spec</button> <select aria-label="Open an example" disabled><option>Examples …</option></select> <button type="button" disabled>Copy link</button> <button type="button" disabled>Download</button> <button type="button" disabled>Open file</button>', LOADING: "The program is loading: about 8 MB at the first visit, and nothing at later ones, which work without a network, too. The text can be edited meanwhile.", POLICY: "POLICY\n", HOME: '<a href="../">clusterspec</a>', PROMISE: "Nothing leaves the browser: the program runs in this page." },
};

async function page(words) {
  let text = await readFile(join(here, "src", "index.html"), "utf8");
  for (const [name, value] of Object.entries(words)) text = text.replace(name, value);
  return text;
}

const digest = (data) => createHash("sha256").update(data).digest("hex");

/** The licenses of what is bundled, once for each package. */
async function licenses(inputs) {
  const names = new Set(Object.keys(inputs).map((name) => name.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean));
  const texts = [];
  for (const name of [...names].sort()) {
    const folder = join(here, "node_modules", name);
    const file = (await readdir(folder)).find((one) => /^licen[sc]e/i.test(one));
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    texts.push(`${name} ${version}\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`);
  }
  return texts.join(`\n${"-".repeat(79)}\n\n`);
}

await mkdir(out, { recursive: true });
const made = await build({ ...shared, entryPoints: [join(here, "src", "main.js")], outfile: join(out, "page.js"), metafile: true });
await build({ ...shared, bundle: false, entryPoints: [join(here, "src", "page.css")], outfile: join(out, "page.css") });
await writeFile(join(out, "index.html"), await page(target ? WORDS.playground : WORDS.edit));
await writeFile(join(out, "LICENSES.txt"), await licenses(made.metafile.inputs));
if (target) {
  for (const name of ["worker", "offline"])
    await build({ ...shared, entryPoints: [join(here, "src", `${name}.js`)], outfile: join(out, `${name}.js`), external: ["./pyodide.mjs"] });
} else {
  const sources = ["build.mjs", "package.json", "package-lock.json", ...(await readdir(join(here, "src"))).map((name) => `src/${name}`)].sort();
  const hashes = async (folder, names) => Object.fromEntries(await Promise.all(names.map(async (name) => [name, digest(await readFile(join(folder, name)))])));
  const built = { sources: await hashes(here, sources), files: await hashes(out, ["LICENSES.txt", "index.html", "page.css", "page.js"]) };
  await writeFile(join(out, "built.json"), `${JSON.stringify(built, null, 2)}\n`);
}
