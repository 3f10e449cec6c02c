# make demo    from a fresh machine to a scorecard: installs what is missing, builds, measures a DSL line
# make build   the program as it is released: target/release/isobath
# make test    installs what the tests need and runs all of them
# make lint    formatting, clippy (fuzz targets, too), documentation, licences and sources of dependencies
# make bench   figures against peers, side by side; installs the peers
# make fuzz    new cases of every property, a minute of every fuzz target; installs cargo-fuzz
# make packages   static programs, wheels, Debian packages, container and what else a release has, in dist/, and tries them (root)
# make soak    an hour (HOURS=1) of fuzzing, kills, faults, strangers and crowds, and one table of how it fared

CARGO ?= cargo
PLAN ?= rrul
LAB ?= dsl
HOURS ?= 1

.PHONY: demo test test-tools test-built test-programs test-docs test-ui test-python lint lint-format lint-code lint-licences bench fuzz packages soak build

build:
	scripts/setup.sh build
	$(CARGO) build --release --locked -p isobath

# Optimised less than a release, and built in little more than a third of the time.
demo:
	scripts/setup.sh build
	$(CARGO) build --profile demo --locked -p isobath
	target/demo/isobath rrul --lab $(LAB) --plan $(PLAN)

test:
	scripts/setup.sh build test-packages
	$(MAKE) --no-print-directory --jobs=2 test-tools test-built
	$(MAKE) --no-print-directory --jobs=2 test-programs test-docs
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-ui test-python

# What is fetched waits for the network, while the compiler does not. Whoever is asked for a password was before.
test-tools:
	scripts/setup.sh test

test-built:
	MAKEFLAGS= $(CARGO) test --workspace --locked --no-run

# Most tests wait for paths that are as slow as real ones, and those that measure run last: the documentation's examples run beside the others.
# Cargo has no part in how many of these there are at once.
test-programs:
	MAKEFLAGS= scripts/tests.sh

test-docs:
	MAKEFLAGS= $(CARGO) test --workspace --locked --doc --quiet

# Nothing that measures runs any more: one beside the other.
test-ui:
	scripts/ui.sh check
	scripts/ui.sh test

test-python:
	scripts/python.sh test

lint: lint-format lint-code lint-licences

lint-format:
	$(CARGO) fmt --all --check

lint-code:
	$(CARGO) clippy --workspace --all-targets --features isobath-fuzz/targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --document-private-items

lint-licences:
	scripts/setup.sh lint
	target/tools/cargo-deny/bin/cargo-deny --locked --log-level error check bans licenses sources

bench: build
	bench/run.sh

fuzz:
	scripts/setup.sh build fuzz
	scripts/fuzz.sh

packages:
	scripts/release.sh
	scripts/packages-test.sh
	scripts/other-systems.sh check
	ISOBATH=target/packages/$$(uname -m)-unknown-linux-musl/dist/isobath scripts/other-systems.sh wine

soak: build
	scripts/setup.sh fuzz
	soak/run.py --hours $(HOURS)
