#!/bin/sh
# Takes rustc's place where cargo builds the workspace: what is built is linted by clippy, and a warning is an error.
#   RUSTC_WORKSPACE_WRAPPER=scripts/lint.sh CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__ cargo test
# (What clippy has read is built again when CLIPPY_ARGS is another, so it is not set here.) A library is built twice, by itself and with its
# tests. Clippy reads it the second time; the first time the compiler's own warnings do: what only the tests use is found unused.
# (A library with `test = false` is read by no one else: `make lint-code` reads everything.)
case " $* " in
*" --test "*) ;;
*" --crate-type lib "*) exec "$@" -Dwarnings ;;
esac
exec clippy-driver "$@"
