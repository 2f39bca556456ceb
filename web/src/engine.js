// The engine behind the page: `clusterspec edit` on this machine, or Pyodide in a web worker. Both answer the requests of
// clusterspec/cli/editor/verbs.py with the same JSON.

const CRASHED = 3;
const PATIENCE = 10_000; // milliseconds after which a person is asked whether to go on waiting

/** The engine of `clusterspec edit`: requests with the token of the printed address. */
export class ServerEngine {
  constructor(token) {
    this.token = token;
    this.local = true;
  }

  async start() {
    return this.ask({ verb: "about" });
  }

  async ask(request, { onprogress } = {}) {
    const timer = onprogress && setInterval(async () => {
      const seen = await this.send({ verb: "progress" }).catch(() => null);
      if (seen && seen.total) onprogress(seen.done, seen.total);
    }, 400);
    try {
      return await this.send(request);
    } catch {
      return { status: CRASHED, out: "", err: "clusterspec edit no longer answers; start it again in the terminal\n", gone: true };
    } finally {
      clearInterval(timer);
    }
  }

  async send(request) {
    const answer = await fetch("/answer", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Clusterspec-Token": this.token },
      body: JSON.stringify(request),
    });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return answer.json();
  }

  cancel() {
    return this.send({ verb: "cancel" }).catch(() => null);
  }
}

/** The engine in a web worker: started once, started again after a crash or a cancelled search. */
export class WorkerEngine {
  constructor(address, onstate) {
    this.address = address;
    this.onstate = onstate;
    this.waiting = new Map();
    this.number = 0;
  }

  start() {
    this.ready = new Promise((resolve) => (this.opened = resolve));
    // A worker made from a blob inherits the policy of the page; one from an address would have none.
    const code = `import ${JSON.stringify(new URL(this.address, location.href).href)};`;
    const blob = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(blob, { type: "module" });
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.onerror = (event) => this.crashed(event.message || "the worker could not be started");
    this.worker.postMessage({ base: new URL(".", location.href).href });
    return this.ready;
  }

  heard(data) {
    if (data.state) this.onstate(data.state);
    if (data.about) {
      this.opened(data.about);
      this.onstate("");
    }
    if (data.crash) this.crashed(data.crash);
    const asked = this.waiting.get(data.id);
    if (asked && data.progress) asked.onprogress?.(...data.progress);
    if (asked && data.answer) {
      this.waiting.delete(data.id);
      asked.resolve(data.answer);
    }
  }

  crashed(why) {
    const answer = { status: CRASHED, out: "", err: `the engine stopped: ${why}\n` };
    this.opened(answer);
    this.end(answer);
    this.dead = true;
  }

  end(answer) {
    this.worker.terminate();
    for (const { resolve } of this.waiting.values()) resolve(answer);
    this.waiting.clear();
  }

  /** `onslow` is called where an answer without progress takes long; `cancel` ends it. */
  async ask(request, { onprogress, onslow } = {}) {
    if (this.dead) {
      this.dead = false;
      this.start();
    }
    const about = await this.ready;
    if (about.status) return about;
    const id = ++this.number;
    return new Promise((resolve) => {
      const timer = onslow && !onprogress ? setTimeout(onslow, PATIENCE) : 0;
      this.waiting.set(id, { onprogress, resolve: (answer) => { clearTimeout(timer); resolve(answer); } });
      this.worker.postMessage({ id, request });
    });
  }

  /** Python in a worker cannot be interrupted from outside on every server: the worker is replaced. */
  cancel() {
    this.end({ status: 2, out: "", err: "cancelled\n", cancelled: true });
    this.start();
  }
}
