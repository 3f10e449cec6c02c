#!/bin/sh
# The documentation as a site, with the reference of the Python package and the notebooks, executed.
#   scripts/site.sh          builds it: target/site/html/index.html is its first page
#   scripts/site.sh serve    builds it, and serves it on this machine
set -eu
cd "$(dirname "$0")/.."
site=$PWD/target/site
venv=$site/venv
mkdir -p "$site"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
if ! cmp -s packaging/site/requirements.txt "$site/installed"; then
    echo "site: installing mkdocs"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r packaging/site/requirements.txt
    cp packaging/site/requirements.txt "$site/installed"
fi
for notebook in examples/notebooks/*.ipynb; do
    name=$(basename "$notebook" .ipynb)
    [ "target/notebooks/$name.ipynb" -nt "$notebook" ] || scripts/notebooks.sh "$name"
done
python3 scripts/site.py "$site/pages"
cp packaging/site/mkdocs.yml "$site/mkdocs.yml"
# The theme warns of a successor of mkdocs: not what a reader of this output looks for.
export NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true
"$venv/bin/mkdocs" build --quiet --config-file "$site/mkdocs.yml"
echo "site: target/site/html/index.html"
[ "${1:-}" != serve ] || exec python3 -m http.server --bind 127.0.0.1 --directory "$site/html" 8000
