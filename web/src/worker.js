// The engine in a web worker: Pyodide with the unmodified package. It is told where its files are, and loads nothing else.

import { BEGIN } from "./begin.js";
import { loadPyodide } from "./pyodide.mjs";

// Reports use the fonts of the page, so they are loaded once.
const FONTS = ["Inter-Regular.woff2", "Inter-SemiBold.woff2", "JetBrainsMono-Regular.woff2"];
const FOLDER = "/engine/clusterspec/_data/templates/fonts";

const say = (message) => postMessage(message);

async function fetched(address, what, bytes) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${what} cannot be loaded (status ${answer.status})`);
  const reader = answer.body.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (bytes) say({ state: `loading the engine: ${Math.min(99, Math.round((100 * size) / bytes))} %` });
  }
  return new Blob(parts).arrayBuffer();
}

/** Writes the files of an archive whose names are short: plain tar headers. */
function unpack(python, tar, folder) {
  const text = (from, to) => new TextDecoder().decode(tar.subarray(from, to)).split("\0", 1)[0];
  const made = new Set();
  for (let at = 0; at + 512 <= tar.length && tar[at]; ) {
    const name = `${folder}/${text(at, at + 100)}`;
    const size = parseInt(text(at + 124, at + 136), 8);
    const parent = name.slice(0, name.lastIndexOf("/"));
    if (!made.has(parent)) python.FS.mkdirTree(parent);
    made.add(parent);
    python.FS.writeFile(name, tar.subarray(at + 512, at + 512 + size));
    at += 512 + 512 * Math.ceil(size / 512);
  }
}

async function begin(base) {
  say({ state: "loading Python …" });
  const archive = fetched(new URL("engine.tar.xz", base), "the engine");
  const fonts = FONTS.map((name) => fetched(new URL(`fonts/${name}`, base), "a font"));
  const python = await loadPyodide({ indexURL: new URL(".", base).href, fullStdLib: false, env: { HOME: "/home/pyodide" } });
  say({ state: "starting the engine …" });
  const decompressed = python.runPython("import lzma; lambda data: lzma.decompress(data.to_py())");
  unpack(python, decompressed(new Uint8Array(await archive)).toJs(), "/engine");
  for (const [at, name] of FONTS.entries()) {
    python.FS.mkdirTree(FOLDER);
    python.FS.writeFile(`${FOLDER}/${name}`, new Uint8Array(await fonts[at]));
  }
  python.runPython(BEGIN);
  const answer = python.runPython("lambda request, tell: browser.answer(session, request, tell)");
  const load = python.runPython("import importlib; importlib.import_module");
  later = JSON.parse(python.FS.readFile("/engine/later.json", { encoding: "utf8" })).map((name) => () => load(name).destroy());
  return (request, tell) => JSON.parse(answer(JSON.stringify(request), tell));
}

let engine;
let later = [];
let prepared = 0;

/** Imports what estimates and reports need, one module at a time, while nothing is asked for. */
function prepare() {
  later.shift()?.();
  if (later.length) setTimeout(prepare, 0);
}

/** Ends the engine with the last line of a fault. */
function crash(fault) {
  say({ crash: String(fault?.message ?? fault).trim().split("\n").pop().slice(0, 300) });
}

// Pyodide waits for ever where its WebAssembly cannot be loaded.
for (const name of ["compileStreaming", "instantiateStreaming"]) {
  const own = WebAssembly[name];
  WebAssembly[name] = (source, ...more) => {
    Promise.resolve(source).then(({ ok, status }) => ok || crash(`Python cannot be loaded (status ${status})`), crash);
    return own(source, ...more);
  };
}

onmessage = async ({ data }) => {
  try {
    if (data.base) {
      engine = begin(data.base);
      say({ about: (await engine)({ verb: "about" }, () => {}) });
    } else {
      const answer = (await engine)(data.request, (done, total) => say({ id: data.id, progress: [done, total] }));
      say({ id: data.id, answer });
      if (data.request.verb === "check" && !prepared) prepared = setTimeout(prepare, 0);
    }
  } catch (fault) {
    crash(fault);
  }
};
