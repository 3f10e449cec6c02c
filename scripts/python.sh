#!/bin/sh
# The Python package, from the sources.
#   scripts/python.sh setup          makes the environment target/python/venv, with what the tests need (--notebooks: those, too)
#   scripts/python.sh build          builds the extension module (debug) and puts it into python/isobath
#   scripts/python.sh test [--ray]   types, style, and all tests; with --ray those on a cluster of two nodes, too (1 GB more to install)
# What is there already is left alone. `. target/python/venv/bin/activate` makes the package usable.
set -eu
cd "$(dirname "$0")/.."
venv=$PWD/target/python/venv
uv=0.13.9

# Installs the requirements in these files, unless that was done.
install() {
    wanted=$(cat "$@")
    [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ] || return 0
    echo "python: installing $*"
    [ -x "$venv/bin/uv" ] || "$venv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv"
    set -- $(printf ' -r %s' "$@")
    "$venv/bin/uv" pip install --quiet --system-certs --python "$venv/bin/python" "$@"
    printf '%s\n' "$wanted" >"$venv/installed"
}

setup() {
    if ! python3 -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "python: Python 3.11 or newer with venv is needed - on Debian and Ubuntu: apt-get install python3-venv" >&2
        exit 1
    fi
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    install "$@"
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$PWD/python" >"$site/isobath.pth"
}

build() {
    # With the features of the whole workspace: what its tests have built is not built again.
    "${CARGO:-cargo}" build --quiet --locked --workspace --lib --bins --examples
    target=${CARGO_TARGET_DIR:-$PWD/target}
    ln -sfr "$target/debug/lib_isobath.so" python/isobath/_isobath.abi3.so
}

case "${1:-} ${2:-}" in
"setup ") setup python/requirements.txt ;;
"setup --notebooks") setup python/requirements.txt python/requirements-notebooks.txt ;;
"build ") build ;;
"test " | "test --ray")
    marks="not ray"
    set -- python/requirements.txt "${2:-}"
    if [ "$2" = --ray ]; then
        marks=""
        set -- python/requirements.txt python/requirements-ray.txt
    else
        set -- python/requirements.txt
    fi
    setup "$@"
    build
    export ISOBATH_PROGRAM="${CARGO_TARGET_DIR:-$PWD/target}/debug/isobath"
    "$venv/bin/python" scripts/python_types.py --check
    "$venv/bin/ruff" check --quiet --no-cache python scripts/python_types.py
    "$venv/bin/ruff" format --quiet --no-cache --check python scripts/python_types.py
    "$venv/bin/mypy" --no-error-summary
    "$venv/bin/python" -m pytest -m "$marks"
    ;;
*)
    echo "usage: scripts/python.sh setup | build | test [--ray]" >&2
    exit 2
    ;;
esac
