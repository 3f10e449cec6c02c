#!/bin/sh
# Executes the notebooks of examples/notebooks, each in a folder of its own, and fails with the first cell that does.
#   scripts/notebooks.sh [NAME...]     results with all figures: target/notebooks/NAME.ipynb
set -eu
cd "$(dirname "$0")/.."
scripts/python.sh setup --notebooks
scripts/python.sh build
venv=$PWD/target/python/venv
export ISOBATH_PROGRAM="${ISOBATH_PROGRAM:-${CARGO_TARGET_DIR:-$PWD/target}/debug/isobath}"
export MPLCONFIGDIR="$PWD/target/python/matplotlib"
[ $# -gt 0 ] || set -- $(ls examples/notebooks | sed -n 's/\.ipynb$//p')
mkdir -p target/notebooks
for name in "$@"; do
    place=target/notebooks/$name
    rm -rf "$place"
    mkdir -p "$place"
    begun=$(date +%s)
    "$venv/bin/python" - "examples/notebooks/$name.ipynb" "$place" "target/notebooks/$name.ipynb" <<'PYTHON'
import sys

import nbformat
from nbclient import NotebookClient

source, place, result = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
try:
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": place}}).execute()
finally:
    nbformat.write(notebook, result)
PYTHON
    echo "notebooks: $name in $(($(date +%s) - begun)) s"
done
