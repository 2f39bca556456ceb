#!/bin/sh
# make release: builds sdist and wheel, and tries the wheel and the sdist each in an empty environment.
set -eu
bin=$1
rm -rf dist
"$bin/python" -m build --no-isolation --outdir dist
"$bin/python" -m tools.release.contents dist
for package in dist/*.whl dist/*.tar.gz; do
  place=$(mktemp -d)
  "$bin/python" -m venv "$place/venv"
  pip() { "$place/venv/bin/pip" --quiet --disable-pip-version-check "$@"; }
  pip install --require-hashes -r requirements/build.txt -r requirements/run.txt
  pip install --no-deps --no-index --no-build-isolation "$package"
  (
    cd "$place"
    PYTHONPATH= ./venv/bin/clusterspec init >spec.yaml
    PYTHONPATH= ./venv/bin/clusterspec check spec.yaml
    PYTHONPATH= ./venv/bin/clusterspec estimate spec.yaml >/dev/null
    PYTHONPATH= ./venv/bin/clusterspec schema >/dev/null
  )
  rm -rf "$place"
  echo "tried $package in an empty environment"
done
cp schemas/editor.schema.json dist/clusterspec.schema.json
"$bin/python" -m tools.release.conda dist >dist/conda-forge.recipe.yaml
(cd dist && sha256sum ./* >SHA256SUMS)
echo "dist/ holds the release; tag it v$("$bin/python" -c 'import clusterspec; print(clusterspec.__version__)')"
