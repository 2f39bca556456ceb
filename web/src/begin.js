// The first lines of Python: the engine of an unpacked archive, with an empty folder for the spec.

export const BEGIN = `
import os, sys
sys.path.insert(0, "/engine")
os.makedirs("/spec", exist_ok=True)
os.chdir("/spec")
from pathlib import Path
from clusterspec.cli.editor import browser
session = browser.opened(Path("/spec"))
`;
