#!/bin/sh
# Near ends on systems that are not Linux, and the whole program on the other processor. It installs what it needs (scripts/setup.sh other-systems).
#   scripts/other-systems.sh check [TARGET...]   compiles the program for Windows, macOS and Linux on aarch64 as far as that goes without their linkers
#   scripts/other-systems.sh build               the program for Windows: target/x86_64-pc-windows-gnu/release/isobath.exe
#   scripts/other-systems.sh wine                runs it by Wine, and compares what it says with what this machine's program says
# ISOBATH names this machine's program (target/release/isobath), EXE the one for Windows, PROFILE another profile than 'release'.
set -eu
cd "$(dirname "$0")/.."

windows=x86_64-pc-windows-gnu
work=$PWD/target/other-systems
export CARGO_INCREMENTAL=0 ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig"
PROFILE=${PROFILE:-release}
# The profile 'dev' has a folder of another name.
EXE=${EXE:-$PWD/target/$windows/$(echo "$PROFILE" | sed 's/^dev$/debug/')/isobath.exe}
ISOBATH=$(realpath -m "${ISOBATH:-target/release/isobath}")

say() { echo "other systems: $*"; }
fail() {
    echo "other systems: $*" >&2
    exit 1
}

# for_target TARGET COMMAND...: cargo with a C compiler for the target: MinGW's, or zig with zig's own headers of Apple's and musl's libraries.
for_target() {
    target=$1
    shift
    case $target in
    *-apple-* | *-linux-musl)
        lower=$(echo "$target" | tr - _)
        # What would ask Apple's tools for their folder takes this one.
        env "CC_$lower=$PWD/scripts/zig-cc.sh" "AR_$lower=$PWD/scripts/zig-ar.sh" SDKROOT=/ \
            "${CARGO:-cargo}" "$@" --locked -p isobath --target "$target"
        ;;
    *) "${CARGO:-cargo}" "$@" --locked -p isobath --target "$target" ;;
    esac
}

check() {
    [ $# -gt 0 ] || set -- "$windows" aarch64-apple-darwin x86_64-apple-darwin aarch64-unknown-linux-musl
    for target; do
        for_target "$target" check
        say "the program compiles for $target"
    done
}

build() {
    for_target "$windows" build --profile "$PROFILE"
    say "$(du -h "$EXE" | cut -f 1) for Windows: $EXE"
}

# on NAME COMMAND...: a command of the program NAME (linux, windows), in the folder for what is tried.
on() {
    on=$1
    shift
    case $on in
    linux) (cd "$tried" && "$ISOBATH" "$@") ;;
    windows) (cd "$tried" && "$wine" "$EXE" "$@") ;;
    esac
}

# same WHAT COMMAND...: both programs say the same, but for the ends of lines.
same() {
    what=$1
    shift
    for system in linux windows; do
        on "$system" "$@" 2>"$tried/$system.err" | tr -d '\r' >"$tried/$system.out" || true
        [ -s "$tried/$system.out" ] || fail "$what: nothing on $system: $(tail -n 3 "$tried/$system.err")"
    done
    diff -u "$tried/linux.out" "$tried/windows.out" >"$tried/diff.txt" || fail "$what differs: $(head -n 20 "$tried/diff.txt")"
    say "$what is the same"
}

# What a record says, without when, where and how busily it was made.
figures() {
    python3 -c 'import json, sys
run = json.load(open(sys.argv[1]))
for name in ("id", "started", "hosts", "instrument", "warnings"):
    run.pop(name)
print(json.dumps(run, indent=1, sort_keys=True))' "$tried/$1/run.json"
}

# both WHAT COMMAND...: both programs make a record, with the same figures.
both() {
    what=$1
    shift
    for system in linux windows; do
        on "$system" "$@" --out "$what-$system" --quiet >"$tried/$system.out" 2>"$tried/$system.err" ||
            fail "$what: on $system: $(tail -n 3 "$tried/$system.err")"
        figures "$what-$system" >"$tried/$system.json"
    done
    diff -u "$tried/linux.json" "$tried/windows.json" >"$tried/diff.txt" || fail "$what differs: $(head -n 20 "$tried/diff.txt")"
    say "$what has the same figures"
}

# A near end for real: against this machine's server, on loopback. It says what it did not learn.
near_end() {
    "$ISOBATH" serve --ephemeral --json --quiet --address 127.0.0.1 --port 0 >"$tried/serve.json" &
    server=$!
    trap 'kill $server 2>/dev/null || true' EXIT
    while [ ! -s "$tried/serve.json" ]; do sleep 0.1; done
    address=$(python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["address"])' <"$tried/serve.json")
    key=$(python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["key"])' <"$tried/serve.json")
    for job in "rrul --duration 5s" "btc --duration 3s" "estimate rtt --duration 3s"; do
        name=near-${job%% *} status=0
        # shellcheck disable=SC2086
        on windows ${job} "$address" --key "$key" --out "$name" >"$tried/$name.txt" 2>&1 || status=$?
        # 4: the machine was too busy for good figures.
        case $status in 0 | 4) ;; *) fail "$name: exit status $status: $(tail -n 5 "$tried/$name.txt")" ;; esac
        on linux show "$name" >/dev/null || fail "$name: the record cannot be shown"
        say "Windows' '${job%% *}' measures towards a Linux server"
    done
    kill "$server"
    trap - EXIT
}

# A Wine of our own, which knows what Rust's standard library asks for.
prepare_wine() {
    export WINEPREFIX="$work/wine" WINEDEBUG=-all
    # Debian's is not on the PATH.
    wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
    mkdir -p "$work"
    "$wine" wineboot -i >/dev/null 2>&1
    system=$WINEPREFIX/drive_c/windows/system32
    [ -e "$system/bcryptprimitives.dll" ] ||
        x86_64-w64-mingw32-gcc -shared -O1 -o "$system/bcryptprimitives.dll" scripts/wine-random.c -ladvapi32
}

under_wine() {
    [ -x "$EXE" ] || build
    [ -x "$ISOBATH" ] || fail "there is no $ISOBATH - run 'make build', or name the program by ISOBATH"
    prepare_wine
    tried=$work/tried
    rm -rf "$tried"
    mkdir -p "$tried"
    [ "$(on windows --version | tr -d '\r')" = "$("$ISOBATH" --version)" ] || fail "'isobath.exe --version' says something else"
    both btc sim btc --rate 10Mbit --rtt 40ms --duration 5s
    on linux sim btc --rate 10Mbit --rtt 40ms --duration 5s --queue 20packets --out other --quiet >/dev/null
    same show show btc-linux
    same "show --json" show btc-linux --json
    same compare compare btc-linux other
    same "compare --json" compare btc-linux other --json
    for system in linux windows; do on "$system" export --csv btc-windows --out "$system-csv" >/dev/null; done
    diff -r "$tried/linux-csv" "$tried/windows-csv" >"$tried/diff.txt" || fail "export differs: $(head -n 5 "$tried/diff.txt")"
    say "export is the same"
    cp crates/capture/tests/encapsulations/vlan.pcap "$tried"
    for system in linux windows; do
        on "$system" report btc-linux --out "$system.html" >/dev/null
        on "$system" trace extract vlan.pcap --out "$system.cvec" >/dev/null 2>&1
    done
    cmp "$tried/linux.html" "$tried/windows.html" || fail "the report differs"
    cmp "$tried/linux.cvec" "$tried/windows.cvec" || fail "the vectors differ"
    say "report and vectors of a capture are the same"
    status=0
    on windows rrul --lab dsl >"$tried/lab.txt" 2>&1 || status=$?
    [ "$status" = 2 ] || fail "a lab ends with exit status $status: $(tail -n 3 "$tried/lab.txt")"
    say "a lab is refused: $(tr -d '\r' <"$tried/lab.txt")"
    near_end
}

case ${1-} in
check | build | wine) scripts/setup.sh other-systems ;;
esac
case ${1-} in
check)
    shift
    check "$@"
    ;;
build) build ;;
wine) under_wine ;;
*) fail "'${1-}' is none of 'check', 'build' and 'wine'" ;;
esac
