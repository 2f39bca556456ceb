// The playground without a network: the first visit stores what the page needs, and later visits load only what has changed.

const KEPT = "clusterspec-VERSION";
const FILES = ["./", "page.js", "page.css", "worker.js", "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "engine.tar.xz", "examples.json", "fonts/Inter-Regular.woff2", "fonts/Inter-SemiBold.woff2", "fonts/JetBrainsMono-Regular.woff2"];

addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

addEventListener("activate", (event) => {
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith("clusterspec-") && name !== KEPT).map((name) => caches.delete(name)))).then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  event.respondWith(caches.open(KEPT).then(async (cache) => (await cache.match(request, { ignoreSearch: true })) ?? fetch(request)));
});
