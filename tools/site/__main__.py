"""``python -m tools.site ZENSICAL FOLDER``: the whole site in a folder, from the repository and registries alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.site.pages import write_sources
from tools.site.playground import write_playground


def main(program: str, site: Path) -> int:
    """Build the site; the status of the builder, which is not 0 where a link leads nowhere."""
    sources = site.resolve().parent / "site-sources"
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("cluster.yaml").touch()
        try:
            configuration = write_sources(sources)
        finally:
            os.chdir(before)
    write_playground(sources / "docs" / "playground")
    status = subprocess.run([program, "build", "--strict", "--clean", "-f", str(configuration)], check=False).returncode
    if (sources / "site").is_dir():
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(sources / "site", site)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve()))
