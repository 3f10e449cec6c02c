#!/bin/sh
# The page of `isobath report`, built from ui/ into crates/report/page/index.html, which is committed: building the
# program needs no Node.
#   scripts/ui.sh setup   installs what the page is built and tested with (Node 20 and npm are there already)
#   scripts/ui.sh build   builds the page
#   scripts/ui.sh check   fails when the page that is committed is not that of the sources
#   scripts/ui.sh test    the page in a real Chromium, with made-up records
set -eu
cd "$(dirname "$0")/.."
page=crates/report/page/index.html

setup() {
    # What is there and as the lock file says is left alone.
    if ! (cd ui && npm ls --silent >/dev/null 2>&1); then (cd ui && npm ci --silent); fi
}

build() {
    setup
    (cd ui && npx tsc --noEmit && npx vite build --logLevel warn)
}

case "${1:-}" in
setup) setup ;;
build)
    build
    mkdir -p "$(dirname "$page")"
    cp ui/dist/index.html "$page"
    echo "ui: built $page, $(wc -c <"$page") octets"
    ;;
check)
    hash=$(node ui/sources.mjs)
    if ! grep -q "name=\"isobath-ui-sources\" content=\"$hash\"" "$page"; then
        echo "ui: $page is not built from what is in ui/ - run scripts/ui.sh build" >&2
        exit 1
    fi
    build
    if ! cmp -s ui/dist/index.html "$page"; then
        echo "ui: $page was changed by hand, or built with other tools - run scripts/ui.sh build" >&2
        exit 1
    fi
    if grep -n '"resolved"' ui/package-lock.json >&2; then
        echo "ui: package-lock.json names where packages come from - see ui/.npmrc" >&2
        exit 1
    fi
    ;;
test)
    setup
    pages=${ISOBATH_UI_PAGES:-}
    if [ -z "$pages" ]; then
        pages=$(mktemp -d)
        trap 'rm -rf "$pages"' EXIT
        # With the features of the whole workspace: what its tests have built is not built again.
        "${CARGO:-cargo}" build --quiet --locked --workspace --examples
        "${CARGO_TARGET_DIR:-target}/debug/examples/fixtures" "$pages"
    fi
    # Not exec: the folder is to be removed afterwards.
    (cd ui && ISOBATH_UI_PAGES="$pages" npm test --silent)
    ;;
*)
    echo "usage: scripts/ui.sh setup|build|check|test" >&2
    exit 2
    ;;
esac
