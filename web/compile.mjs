// Compiles what the playground imports for checks, estimates, costs and reports, by the Python of Pyodide: the page then reads
// byte code.
//
//   node compile.mjs FOLDER    has standard.zip, what is in it under standard/, the files of the engine under engine/, and
//                              the spec of the first check as first.yaml; puts x.pyc in place of each x.py imported for it,
//                              moves what Python does not need to unpack the engine from standard/ to engine/, and lists
//                              what the page imports after the first check in engine/later.json

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";
import { BEGIN } from "./src/begin.js";

const indexURL = join(dirname(fileURLToPath(import.meta.url)), "node_modules", "pyodide");
process.on("uncaughtException", (fault) => {
  console.error(String(fault.message).slice(-2000)); // without the line of pyodide.asm.mjs, which has a megabyte
  process.exit(1);
});
const python = await loadPyodide({ indexURL, stdLibURL: join(process.argv[2], "standard.zip"), env: { HOME: "/home/pyodide" } });
python.mountNodeFS("/built", process.argv[2]);
python.runPython(String.raw`
import ast, json, lzma, os, sys
sys.dont_write_bytecode = True
first = {name.partition(".")[0] for name in sys.modules}
os.symlink("/built/engine", "/engine")
${BEGIN}
text = Path("/built/first.yaml").read_text("utf-8")

def answered(*verbs):
    for verb in verbs:
        asked = {"verb": verb, "text": text, "old": text, "quantity": "1 GB/s"}
        answer = session.answer(asked | ({} if verb in ("report", "convert") else {"format": "json"}))
        assert answer["status"] == 0, answer

answered("about", "check")
checked = {*sys.modules}
answered("estimate", "cost", "sensitivity", "diff", "report", "convert")
# Deepest first, so that each import is short and a person who asks for something waits for one alone.
later = [name for name, module in sys.modules.items() if name not in checked and getattr(module, "__file__", None)]
Path("/built/engine/later.json").write_text(json.dumps(later[::-1]), "utf-8")

import shutil
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import source_hash

def without_lines(code):
    """The code without the table of its lines, a fifth of it: no message names a line of Python."""
    inner = tuple(without_lines(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=inner)

def without_docstrings(data):
    """The tree of a module without texts that stand alone, but with its assertions."""
    tree = ast.parse(data)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            node.body = [one for one in body if not is_text(one)] or [ast.Pass()]
    return ast.fix_missing_locations(tree)

def is_text(node):
    """Whether a statement is a text alone that names no source, which terms show."""
    value = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
    return value is not None and isinstance(value.value, str) and "Source:" not in value.value

standard = next(folder for folder in sys.path if folder.endswith(".zip"))
for name in sorted({getattr(module, "__file__", None) or "" for module in sys.modules.values()}):
    path = Path(name.replace(standard, "/built/standard").replace("/engine", "/built/engine", 1))
    if name.startswith((standard, "/engine/")) and name.endswith(".py"):
        data = path.read_bytes()
        # Rules and formulas read their docstrings, and Pyodide when it starts; those of other modules nobody reads.
        own, read = "clusterspec" in path.parts, {"rules", "formulas", "pyodide", "_pyodide"} & {*path.parts}
        tree = without_docstrings(data) if own and not read and path.parent.name != "clusterspec" else data
        code = without_lines(compile(tree, name, "exec", dont_inherit=True, optimize=0 if own or read else 2))
        # byte code that is not compared with its source, which the page does not have
        path.with_suffix(".pyc").write_bytes(_code_to_hash_pyc(code, source_hash(data), False))
        path.unlink()
for path in sorted(Path("/built/standard").iterdir()):
    if path.name.partition(".")[0] not in first:
        shutil.move(path, Path("/built/engine", path.name))
`);
process.exit(0);
