#!/bin/sh
# The archiver that belongs to scripts/zig-cc.sh.
exec "$(dirname "$0")/../target/tools/zig/ziglang/zig" ar "$@"
