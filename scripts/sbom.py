#!/usr/bin/env python3
"""What is linked into the program and the Python module: `scripts/sbom.py bom` as CycloneDX 1.5 in JSON, `scripts/sbom.py licences` as their
licences' texts.

Both come from `cargo metadata`: everything that the crates `isobath` and `isobath-python` reach on Linux without development dependencies, so build
scripts and macros, which run while it is built, are listed as well (`"scope": "excluded"`: not in the program). The report's page brings a
little JavaScript (ui/package-lock.json), the standard library comes with the compiler. SOURCE_DATE_EPOCH is the time in the SBOM.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The dependencies differ little among architectures; one list says what is in any of the programs.
TARGETS = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"]
# What the report's page contains (ui/vite.config.ts, which also puts their notices into the page).
PAGE = ["echarts", "tslib", "zrender"]
LICENCE_FILE = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|unlicense)([-._].*)?$")


def metadata():
    """Packages by id, and the graph of what they need: for each package its (dependency, is it only built with)."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--manifest-path", ROOT / "Cargo.toml"]
    for target in TARGETS:
        command += ["--filter-platform", target]
    data = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in data["packages"]}
    graph = {node["id"]: edges(node) for node in data["resolve"]["nodes"]}
    return packages, graph


def edges(node):
    found = []
    for dependency in node["deps"]:
        kinds = {kind["kind"] for kind in dependency["dep_kinds"]} - {"dev"}
        if kinds:
            found.append((dependency["pkg"], kinds == {"build"}))
    return found


def is_macro(package):
    return any("proc-macro" in target["kind"] for target in package["targets"])


def reach(packages, graph):
    """The program's id, and those that it and the Python module reach: linked into them, and run only while they are built."""
    start, module = (next(id for id, package in packages.items() if package["name"] == name) for name in ("isobath", "isobath-python"))
    linked, built = set(), set()
    waiting = [(start, False), (module, False)]
    while waiting:
        id, aside = waiting.pop()
        seen = built if aside else linked
        if id in seen:
            continue
        seen.add(id)
        for dependency, build in graph[id]:
            waiting.append((dependency, aside or build or is_macro(packages[dependency])))
    return start, linked, built - linked


def crate(package, checksums, scope):
    purl = f"pkg:cargo/{package['name']}@{package['version']}"
    component = {"type": "library", "bom-ref": purl, "name": package["name"], "version": package["version"], "purl": purl, "scope": scope}
    if package["description"]:
        component["description"] = " ".join(package["description"].split())
    if package["license"]:
        # Cargo once had a slash between the choices.
        component["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return component


def script(name, lock):
    entry = lock["packages"][f"node_modules/{name}"]
    digest = base64.b64decode(entry["integrity"].removeprefix("sha512-")).hex()
    purl = f"pkg:npm/{name}@{entry['version']}"
    return {
        "type": "library", "bom-ref": purl, "name": name, "version": entry["version"], "purl": purl, "scope": "required",
        "licenses": [{"expression": entry["license"]}], "hashes": [{"alg": "SHA-512", "content": digest}],
    }


def compiler():
    text = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)["release"]


def bom():
    packages, graph = metadata()
    start, linked, built = reach(packages, graph)
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}
    components = [crate(packages[id], checksums, "required") for id in linked - {start}]
    components += [crate(packages[id], checksums, "excluded") for id in built]
    components += [script(name, json.loads((ROOT / "ui/package-lock.json").read_text())) for name in PAGE]
    release = compiler()
    standard = f"pkg:generic/rust-std@{release}"
    components.append({
        "type": "library", "bom-ref": standard, "name": "rust-std", "version": release, "purl": standard, "scope": "required",
        "description": "Rust's standard library with the C library musl, as they come with the compiler",
        "licenses": [{"expression": "(MIT OR Apache-2.0) AND MIT"}],
    })
    components.sort(key=lambda component: component["bom-ref"])
    program = crate(packages[start], {}, "required") | {"type": "application"}
    ref = {id: f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}" for id in linked | built}
    listed = {component["bom-ref"] for component in components} | {ref[start]}
    dependencies = [{"ref": ref[id], "dependsOn": sorted({ref[d] for d, _ in graph[id] if d in ref})} for id in linked | built]
    report = next(d for d in dependencies if d["ref"].startswith("pkg:cargo/isobath-report@"))
    report["dependsOn"] += [c["bom-ref"] for c in components if c["bom-ref"].startswith("pkg:npm/")]
    next(d for d in dependencies if d["ref"] == ref[start])["dependsOn"].append(standard)
    assert {name for d in dependencies for name in d["dependsOn"]} <= listed
    time = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": program},
        "components": components,
        "dependencies": sorted(dependencies, key=lambda dependency: dependency["ref"]),
    }
    # The same contents have the same number.
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"
    return json.dumps(document, indent=1, ensure_ascii=False)


def licences():
    packages, graph = metadata()
    start, linked, _ = reach(packages, graph)
    # By their words: copies of one text often differ in their line breaks.
    texts, silent = {}, []
    for package in sorted((packages[id] for id in linked), key=lambda p: (p["name"], p["version"])):
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']} ({package['license']})"
        folder = Path(package["manifest_path"]).parent
        files = sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
        if not files:
            silent.append(f"{name}, by {', '.join(package['authors']) or package['repository']}")
        for path in files:
            text = path.read_text(errors="replace").strip()
            texts.setdefault(" ".join(text.split()), (text, []))[1].append(name)
    out = ["What Isobath's program and its Python module contain beside their own code, and under which licences.", ""]
    out += ["Rust's standard library (MIT OR Apache-2.0) with the C library musl (MIT); and in the report's page Apache ECharts, ZRender",
            "and tslib, whose notices are in every page that the program writes. Then these libraries.", ""]
    out += ["Their packages hold no file with a licence:", *[f"- {name}" for name in silent], ""] if silent else []
    for text, names in texts.values():
        out += ["=" * 80, *dict.fromkeys(names), "-" * 80, text, ""]
    return "\n".join(out)


if __name__ == "__main__":
    what = {"bom": bom, "licences": licences}.get(sys.argv[1] if len(sys.argv) == 2 else "")
    if what is None:
        sys.exit("sbom: say what to print - scripts/sbom.py bom | licences")
    print(what())
