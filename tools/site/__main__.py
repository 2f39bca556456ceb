"""``python -m tools.site ZENSICAL FOLDER``: the whole site in a folder, from the repository and registries alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.site import playground, weight
from tools.site.lighten import lighten
from tools.site.links import broken_links
from tools.site.pages import write_sources
from tools.site.playground import transferred_bytes, write_playground
from tools.site.weight import shorten_index, weights


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
        shorten_index(site)
        lighten(site)
        pages, sent = sorted(weights(site)), transferred_bytes(site / "playground")
        usual, (most, heaviest) = pages[len(pages) // 2][0], pages[-1]
        above = sum(weighs > weight.LARGEST for weighs, _ in pages)
        print(f"median page: {usual / 1e3:.0f} kB; heaviest: {heaviest}, {most / 1e3:.0f} kB")
        print(f"playground: {sent / 1e6:.2f} MB")
        print(f"{above} of {len(pages)} pages exceed {weight.LARGEST / 1e3:.0f} kB")
        broken = [*broken_links(site)]
        print("".join(f"leads nowhere: {one}\n" for one in broken[:20]), end="")
        if broken or above or sent > playground.LARGEST:
            print(
                f"limits: {weight.LARGEST / 1e3:.0f} kB for a page, {playground.LARGEST / 1e6:.0f} MB with the engine"
            )
            return 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve()))
