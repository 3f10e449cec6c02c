#!/bin/sh
# Tries the packages in dist/ (scripts/release.sh makes them) where nothing else of Isobath is: as root, on a machine of the same kind. It
# installs what it needs (scripts/setup.sh packages), and a small Debian into target/packages/debian.tar. All of it: `scripts/packages-test.sh`;
# single parts: `scripts/packages-test.sh sums static debian wheels sbom formula container compose arm`.
set -eu
cd "$(dirname "$0")/.."

version=$(scripts/version.sh)
work=$PWD/target/packages
dist=$PWD/dist
machine=$(uname -m)
RELEASE=${RELEASE:-bookworm}
# The main job, short.
job="rrul --lab dsl --duration 10s"

say() { echo "packages: $*"; }
fail() {
    echo "packages: $*" >&2
    exit 1
}
# unpack ARCHIVE: into a new folder, whose name is printed.
unpack() {
    into=$work/tried/$(basename "$1" .tar.gz)
    rm -rf "$into"
    mkdir -p "$into"
    tar -C "$into" --strip-components=1 -xf "$1"
    echo "$into"
}
# inside ROOT COMMAND...: runs it with ROOT as the root folder, in a namespace of mounts that is gone afterwards.
inside() {
    # shellcheck disable=SC2016
    unshare --mount sh -ec 'root=$1; shift
        for folder in proc sys dev; do mkdir -p "$root/$folder"; mount --rbind "/$folder" "$root/$folder"; done
        exec chroot "$root" "$@"' inside "$@"
}
# booted COMMAND...: runs it in the Debian in $root as if that were this machine's only root. Where the root has merely been changed
# (chroot) the kernel allows nobody user namespaces.
booted() {
    # shellcheck disable=SC2016
    unshare --mount sh -ec 'root=$1; shift
        mount --bind "$root" "$root"
        for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
        # Open to all, as most distributions have it and not every machine that builds.
        [ -e "$root/tmp/tun" ] || mknod --mode=666 "$root/tmp/tun" c 10 200
        mount --bind "$root/tmp/tun" "$root/dev/net/tun"
        cd "$root"
        pivot_root . mnt
        cd /
        umount -l /mnt
        exec "$@"' booted "$root" "$@"
}
# measured FILE COMMAND...: the command writes a scorecard into FILE. Status 4 says that the machine was too busy for good figures, which is
# not what is tried here.
measured() {
    file=$1 status=0
    shift
    "$@" >"$file" 2>&1 || status=$?
    case $status in 0 | 4) ;; *) fail "$(cat "$file")" ;; esac
    grep -q "Under load this path adds" "$file" || fail "no scorecard: $(cat "$file")"
}

sums() {
    (cd "$dist" && sha256sum --check --quiet SHA256SUMS) || fail "dist/ is not what SHA256SUMS says - run scripts/release.sh"
    say "checksums are right"
}

# The program alone in an empty folder.
static() {
    tree=$(unpack "$dist/isobath-$version-$machine-linux.tar.gz")
    ! grep -qaF -e "$PWD/" -e "${CARGO_HOME:-$HOME/.cargo}/" "$tree/isobath" || fail "the program names folders of this machine"
    root=$work/tried/empty
    rm -rf "$root"
    mkdir -p "$root"
    cp "$tree/isobath" "$root"
    # shellcheck disable=SC2086
    measured "$work/tried/static.txt" inside "$root" /isobath $job
    run=$(cd "$root" && find isobath-runs -name run.json)
    inside "$root" /isobath show "/${run%/run.json}" >"$work/tried/shown.txt" || fail "the record cannot be shown"
    say "the program measures in an empty root"
}

# A new Debian from an archive that is made once.
fresh_debian() {
    archive=$work/debian-$RELEASE.tar
    root=$work/tried/debian
    rm -rf "$root"
    if [ ! -e "$archive" ]; then
        say "making a Debian $RELEASE"
        debootstrap --variant=minbase "$RELEASE" "$root" ${MIRROR:+"$MIRROR"} >"$work/debootstrap.log" 2>&1 || fail "$(tail -n 5 "$work/debootstrap.log")"
        tar -C "$root" -cf "$archive.new" .
        mv "$archive.new" "$archive"
    else
        mkdir -p "$root"
        tar -C "$root" -xf "$archive"
    fi
}

# What is below the root, but for what dpkg keeps and what the run itself writes.
listing() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/log \) -prune -o -print | LC_ALL=C sort); }

debian() {
    lintian --allow-root --fail-on error,warning "$dist"/*.deb || fail "lintian objects"
    fresh_debian
    mkdir -p "$root/proc" "$root/sys" "$root/dev"
    listing >"$work/tried/before.txt"
    cp "$dist"/isobath_"$version"_"$(dpkg --print-architecture)".deb "$root/tmp/isobath.deb"
    booted dpkg -i /tmp/isobath.deb >"$work/tried/install.txt" 2>&1 || fail "$(cat "$work/tried/install.txt")"
    # As root, and as nobody, who must get a network by a user namespace.
    measured "$work/tried/root.txt" booted sh -ec "cd /tmp && isobath $job"
    measured "$work/tried/nobody.txt" booted setpriv --reuid=nobody --regid=nogroup --clear-groups \
        sh -ec "mkdir /tmp/nobody && cd /tmp/nobody && isobath $job"
    for page in "$root"/usr/share/man/man1/isobath*.gz; do
        problem=$(zcat "$page" | groff -man -Tutf8 -ww 2>&1 >/dev/null | head -n 3)
        [ -z "$problem" ] || fail "$(basename "$page"): $problem"
    done
    bash -n "$root/usr/share/bash-completion/completions/isobath"
    if command -v systemd-analyze >/dev/null; then
        # The units name the program where the package puts it.
        systemd-analyze verify --man=no --root="$root" isobath-serve.service isobath-manager.service isobath-agent@name.service \
            >"$work/tried/units.txt" 2>&1 || true
        # This root is too small to have systemd's own units.
        ! grep isobath "$work/tried/units.txt" | grep -v 'Unit sysinit.target not found' || fail "the units"
    fi
    booted dpkg --purge isobath >"$work/tried/purge.txt" 2>&1 || fail "$(cat "$work/tried/purge.txt")"
    listing | diff "$work/tried/before.txt" - || fail "purge leaves something behind"
    say "the Debian package installs into a fresh $RELEASE, measures as root and as nobody, and leaves nothing"
}

# The program in every wheel is the archive's; this machine's wheel measures, and simulates.
wheels() {
    for wheel in "$dist"/isobath-"$version"-*.whl; do
        other=${wheel##*manylinux_2_17_}
        other=${other%.whl}
        tree=$(unpack "$dist/isobath-$version-$other-linux.tar.gz")
        held=$work/tried/wheel-$other
        python3 -m zipfile -e "$wheel" "$held"
        cmp "$held/isobath-$version.data/scripts/isobath" "$tree/isobath" || fail "the wheel for $other has another program"
        ! grep -qaF -e "$PWD/" -e "${CARGO_HOME:-$HOME/.cargo}/" "$held"/isobath/_isobath*.so || fail "the wheel for $other names folders of this machine"
    done
    scripts/wheel.sh try >"$work/tried/wheel.txt" 2>&1 || fail "$(cat "$work/tried/wheel.txt")"
    say "the wheels hold the archives' programs, and this machine's measures in an empty environment"
}

sbom() {
    PYTHONPATH=target/tools/cyclonedx python3 - "$dist/isobath-$version.cdx.json" <<'EOF' || fail "the SBOM is not CycloneDX 1.5"
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
problem = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(str(problem) if problem else 0)
EOF
    say "the SBOM is valid CycloneDX 1.5"
}

# Formula and Makefile are for tools that are not here: their syntax is checked, and what they name.
formula() {
    source=$(sha256sum <"$dist/isobath-$version-source.tar.gz" | cut -d ' ' -f 1)
    ruby -c "$dist/isobath.rb" >/dev/null || fail "the formula is no Ruby"
    grep -qF "sha256 \"$source\"" "$dist/isobath.rb" || fail "the formula names another source"
    top=$work/tried/openwrt
    rm -rf "$top"
    mkdir -p "$top/feeds/packages/lang/rust" "$top/include"
    touch "$top/rules.mk" "$top/feeds/packages/lang/rust/rust-package.mk"
    # shellcheck disable=SC2016
    printf '%s\n' 'define BuildPackage' 'all: ; @echo $(1) $(PKG_VERSION) $(PKG_HASH)' 'endef' >"$top/include/package.mk"
    said=$(make -s -f "$dist/openwrt/Makefile" TOPDIR="$top" INCLUDE_DIR="$top/include" all)
    [ "$said" = "isobath $version $source" ] || fail "OpenWrt's Makefile says '$said'"
    say "formula and OpenWrt's Makefile are well-formed and name the source by its checksum"
}

container() {
    context=$(unpack "$dist/isobath-$version-container.tar.gz")
    podman --log-level error build --quiet -t "isobath:$version" "$context" >"$work/tried/build.txt" 2>&1 || fail "$(cat "$work/tried/build.txt")"
    image=$(podman image mount "isobath:$version")
    held=$(cd "$image" && find . -type f | sort | tr '\n' ' ')
    [ "$held" = "./data/.keep ./isobath ./tmp/.keep " ] || fail "the image holds $held"
    cmp -s "$image/isobath" "$context/$(dpkg --print-architecture)/isobath" || fail "the image holds another program"
    podman image unmount "isobath:$version" >/dev/null
    # By the runtime that this machine has, or by runc, which also knows older cgroups; with limits that whoever builds may set.
    for runtime in crun runc; do
        run="podman --runtime $runtime run --rm --ulimit nofile=1024:1024 --ulimit nproc=1000:1000"
        # shellcheck disable=SC2086
        said=$($run "isobath:$version" --version 2>"$work/tried/run.txt") || said=
        [ "$said" != "isobath $version" ] || break
    done
    if [ "$said" != "isobath $version" ]; then
        say "the container is built; it cannot be run here: $(tail -n 1 "$work/tried/run.txt")"
        return
    fi
    # As docs/packages.md has it.
    # shellcheck disable=SC2086
    measured "$work/tried/container.txt" $run --user 0 --cap-add SYS_ADMIN,NET_ADMIN --device /dev/net/tun --security-opt unmask=ALL \
        --security-opt seccomp=unconfined "isobath:$version" $job
    say "the container is built, runs by $runtime, and measures in a lab"
}

# The fleet of containers, all but Prometheus and Grafana, whose images are in a registry, as NATS' is: that one is made here.
compose() {
    context=$work/tried/isobath-$version-container nats=$work/tried/nats
    [ -d "$context" ] || container
    if [ "$said" != "isobath $version" ]; then
        say "the fleet of containers cannot be run here"
        return
    fi
    mkdir -p "$nats"
    # It is a static program.
    cp target/tools/nats-server/bin/nats-server "$nats"
    printf '%s\n' 'FROM scratch' 'COPY nats-server /' 'ENTRYPOINT ["/nats-server"]' >"$nats/Containerfile"
    podman --log-level error build --quiet -t nats:2 "$nats" >"$work/tried/nats.txt" 2>&1 || fail "$(cat "$work/tried/nats.txt")"
    podman tag "isobath:$version" isobath
    up="podman-compose --podman-args=--runtime=$runtime" folder=$context/compose begun=false
    (cd "$folder" && $up --podman-run-args="--ulimit=nofile=1024:1024 --ulimit=nproc=1000:1000" up -d --no-build nats apply berlin oslo paris page) \
        >"$work/tried/compose.txt" 2>&1 || begun=never
    # Runs begin twice a minute. Those of a busy machine are invalid, which is not what is tried here.
    for _ in $(seq 90); do
        [ "$begun" = false ] || break
        sleep 1
        podman exec compose_berlin_1 /isobath fleet runs compose --nats nats://nats --json >"$work/tried/runs.json" 2>/dev/null || continue
        if python3 -c 'import json, sys; counts = json.load(sys.stdin)["counts"]; sys.exit(counts["complete"] + counts["invalid"] < 3)' \
            <"$work/tried/runs.json"; then
            begun=true
        fi
    done
    page=$(curl -sf http://127.0.0.1:4896/fleet/compose) || page=
    agents=$(podman exec compose_oslo_1 /isobath fleet status --nats nats://nats 2>&1) || :
    (cd "$folder" && $up down) >>"$work/tried/compose.txt" 2>&1 || :
    podman volume rm -f compose_nats compose_berlin compose_oslo compose_paris >/dev/null
    podman untag nats:2
    [ "$begun" = true ] || fail "no run ended in the fleet of containers: $agents $(tail -n 5 "$work/tried/compose.txt")"
    case $page in *rtt*) ;; *) fail "the page of the fleet of containers is '$page'" ;; esac
    say "a fleet of three containers measures, and its page shows it"
}

# The other processor's program, under an emulator: what needs no network, and a lab if the emulator lets it.
arm() {
    tree=$(unpack "$dist/isobath-$version-aarch64-linux.tar.gz")
    emulator=
    [ "$machine" = aarch64 ] || emulator=qemu-aarch64-static
    file=$work/tried/arm.txt
    [ "$($emulator "$tree/isobath" --version)" = "isobath $version" ] || fail "the program for aarch64 does not run"
    (cd "$work/tried" && $emulator "$tree/isobath" sim btc --rate 10Mbit --rtt 40ms --duration 5s --out arm --quiet) >"$file" 2>&1 ||
        fail "$(cat "$file")"
    $emulator "$tree/isobath" show "$work/tried/arm" >"$work/tried/arm-shown.txt" || fail "the program for aarch64 shows no record"
    # The same machine in virtual time makes the same figures on every processor.
    own=$(unpack "$dist/isobath-$version-$machine-linux.tar.gz")
    "$own/isobath" show "$work/tried/arm" | cmp - "$work/tried/arm-shown.txt" || fail "the two programs show one record differently"
    rm -rf "$work/tried/arm"
    say "the program for aarch64 works in virtual time"
}

[ "$(id -u)" = 0 ] || fail "run as root: packages are installed into roots of their own"
scripts/setup.sh packages
rm -rf "$work/tried"
mkdir -p "$work/tried"
[ $# -gt 0 ] || set -- sums static debian wheels sbom formula container compose arm
for part; do
    case $part in
    sums | static | debian | wheels | sbom | formula | container | compose | arm) "$part" ;;
    *) fail "'$part' is no part" ;;
    esac
done
