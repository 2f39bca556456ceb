// The engine in a web worker: Pyodide with the unmodified package. It is told where its files are, and loads nothing else.

import { loadPyodide } from "./pyodide.mjs";

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

async function begin(base) {
  say({ state: "loading Python …" });
  const archive = fetched(new URL("engine.tar.gz", base), "the engine");
  const python = await loadPyodide({ indexURL: new URL(".", base).href, fullStdLib: false, env: { HOME: "/home/pyodide" } });
  say({ state: "starting the engine …" });
  python.unpackArchive(await archive, "gztar", { extractDir: "/engine" });
  python.runPython(`
import os, sys
sys.path.insert(0, "/engine")
os.makedirs("/spec", exist_ok=True)
os.chdir("/spec")
from pathlib import Path
from clusterspec.cli.editor import browser
session = browser.opened(Path("/spec"))
`);
  const answer = python.runPython("lambda request, tell: browser.answer(session, request, tell)");
  return (request, tell) => JSON.parse(answer(JSON.stringify(request), tell));
}

let engine;

onmessage = async ({ data }) => {
  try {
    if (data.base) {
      engine = begin(data.base);
      say({ about: (await engine)({ verb: "about" }, () => {}) });
    } else {
      const answer = (await engine)(data.request, (done, total) => say({ id: data.id, progress: [done, total] }));
      say({ id: data.id, answer });
    }
  } catch (fault) {
    say({ crash: String(fault.message ?? fault).trim().split("\n").pop().slice(0, 300) });
  }
};
