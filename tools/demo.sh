#!/bin/sh
# The main job on one spec: demo.sh CLUSTERSPEC SPEC FOLDER
set -eu
clusterspec=$1 spec=$2 out=$3
mkdir -p "$out"
rm -f "$out"/design.* "$out"/procurement.* # what is listed at the end was written now

run() { # run COMMAND…: show a command and carry it out; findings (status 1) do not end the demonstration
    printf '\n\033[1m$ clusterspec %s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi
    "$clusterspec" "$@" || [ $? -eq 1 ]
}

run check "$spec"
run estimate "$spec"
run report "$spec" -o "$out/design.html"
run report "$spec" --kind procurement -o "$out/procurement.html"
if "${clusterspec%clusterspec}python" -c 'import weasyprint' >/dev/null 2>&1; then
    run report "$spec" -o "$out/design.pdf"
    run report "$spec" --kind procurement -o "$out/procurement.pdf"
else
    echo 'PDF is left out: install libpango-1.0-0, libpangoft2-1.0-0 and libharfbuzz-subset0, then run this again' >&2
fi
printf '\nThe reports are in %s:\n' "$out"
ls -1 "$out" | sed "s|^|  $out/|"
