#!/bin/sh
# Makes a Debian package: `scripts/deb.sh MACHINE TREE OUT`. TREE is what the release's archive for MACHINE (`x86_64`, `aarch64`) holds:
# the program, `share/`, `systemd/`, licences and documents. SOURCE_DATE_EPOCH is the time of everything in the package.
set -eu
cd "$(dirname "$0")/.."
machine=$1 tree=$2 out=$3
: "${SOURCE_DATE_EPOCH:?deb: say the time of the files, in seconds}"

case $machine in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
*)
    echo "deb: Debian's name for '$machine' is unknown" >&2
    exit 1
    ;;
esac
version=$(scripts/version.sh)
maintainer=${ISOBATH_MAINTAINER:-"The Isobath contributors <isobath@packages.invalid>"}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

# put MODE FILE FOLDER: installs a file.
put() { install -D -m "$1" -t "$root/$3" "$2"; }

put 755 "$tree/isobath" usr/bin
cp -r "$tree/share" "$root/usr/share"
# Debian has a folder of its own for the completions of packages.
mkdir -p "$root/usr/share/zsh"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
gzip -9n "$root"/usr/share/man/man1/*
for unit in "$tree"/systemd/*; do put 644 "$unit" usr/lib/systemd/system; done

documents=$root/usr/share/doc/isobath
for document in README.md THIRD-PARTY.txt; do put 644 "$tree/$document" usr/share/doc/isobath; done
put 644 "$tree/CHANGELOG.md" usr/share/doc/isobath
# Debian's own form has the version and who packed it when.
printf 'isobath (%s) unstable; urgency=medium\n\n  * What is new is in CHANGELOG.md.gz.\n\n -- %s  %s\n' "$version" "$maintainer" \
    "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$documents/changelog"
gzip -9n "$documents/changelog" "$documents/CHANGELOG.md" "$documents/THIRD-PARTY.txt"
put 644 packaging/debian/isobath.lintian-overrides usr/share/lintian/overrides
mv "$root/usr/share/lintian/overrides/isobath.lintian-overrides" "$root/usr/share/lintian/overrides/isobath"
# The file ends where the text of the last licence begins; a text is indented, and its empty lines have a dot.
sed -n '/^Permission/,$p' LICENSE-MIT | sed 's/^$/./; s/^/ /' | cat packaging/debian/copyright - >"$documents/copyright"

mkdir "$root/DEBIAN"
install -m 755 packaging/debian/postinst packaging/debian/prerm packaging/debian/postrm "$root/DEBIAN"
size=$(du -sk --apparent-size "$root/usr" | cut -f 1)
scripts/templates.sh packaging/debian/control.in "VERSION=$version" "ARCHITECTURE=$architecture" "MAINTAINER=$maintainer" "SIZE=$size" \
    >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
find "$root/usr/share" -type f -exec chmod 644 {} +
chmod 644 "$root/DEBIAN/control" "$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/isobath_${version}_$architecture.deb" >/dev/null
