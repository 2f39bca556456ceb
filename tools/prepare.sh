#!/bin/sh
# Makes a virtual environment and installs the project in it: prepare.sh PYTHON FOLDER REQUIREMENT
# System packages are installed only as root; otherwise the line that installs them is printed. Of two installations at
# the same time the second waits for the first: apt-get would refuse it.
set -eu
python=$1 folder=$2 requirement=$3

system() { # system WHY PACKAGE…: install Debian packages, or say how
    why=$1; shift
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing $* ($why)"
        flock "${TMPDIR:-/tmp}/clusterspec-apt.lock" sh -c 'apt-get update -qq && \
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"' - "$@" \
            >/dev/null 2>&1 && return 0
    fi
    echo "$why needs system packages; install them with:  apt-get install $*" >&2
    return 1
}

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

asked=$python
for python in "$asked" python3.13 python3.12 python3.11 ''; do
    [ -z "$python" ] || ! new_enough "$python" || break
done
[ -n "$python" ] || {
    echo "clusterspec needs Python 3.11 or newer, and $asked is none; say where one is: make PYTHON=..." >&2
    exit 1
}
if [ ! -x "$folder/bin/pip" ]; then
    "$python" -c 'import ensurepip' 2>/dev/null || system "a virtual environment" python3-venv
    "$python" -m venv "$folder"
fi
echo "installing clusterspec and what it needs into $folder"
# Python compiles what is imported: the whole of mypy, SciPy and others takes 15 s and is not.
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-compile --editable "$requirement"
if ! "$folder/bin/python" -W error -c 'import weasyprint' >/dev/null 2>&1; then
    system "PDF" libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 || echo "going on without PDF: reports are written as HTML" >&2
fi
