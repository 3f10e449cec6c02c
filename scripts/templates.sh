#!/bin/sh
# Fills a template: `scripts/templates.sh FILE NAME=VALUE...` prints FILE with every @NAME@ replaced. A name without a value, or a value
# without its name in the file, is an error.
set -eu
file=$1
shift
text=$(cat "$file")
fail() {
    echo "templates: $file: $*" >&2
    exit 1
}
for pair in "$@"; do
    name=${pair%%=*}
    case $text in *"@$name@"*) ;; *) fail "has no @$name@" ;; esac
    value=$(printf '%s' "${pair#*=}" | sed 's/[&\\|]/\\&/g')
    text=$(printf '%s\n' "$text" | sed "s|@$name@|$value|g")
done
left=$(printf '%s\n' "$text" | grep -oE '@[A-Z][A-Z0-9_]*@' | sort -u | tr '\n' ' ')
[ -z "$left" ] || fail "no value for $left"
printf '%s\n' "$text"
