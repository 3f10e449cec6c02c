#!/usr/bin/env python3
"""Writes python/isobath/summaries.py from docs/schema: the classes of run.json and of every measurement's summary.

    scripts/python_types.py           writes the file
    scripts/python_types.py --check   fails when it is not current

The JSON schemas are made of the Rust types themselves, so what Python documents is what records hold.
"""

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "python/isobath/summaries.py"
# File in docs/schema: the word that its classes begin with.
FILES = {
    "run": "Run",
    "rrul.summary": "Rrul",
    "btc.summary": "Btc",
    "mbm.summary": "Mbm",
    "estimate.summary": "Estimate",
    "rpm.summary": "Rpm",
    "udpst.summary": "Udpst",
    "replay.summary": "Replay",
    "trial.summary": "Trial",
    "medianet.summary": "Medianet",
    "lab-run.summary": "LabRun",
}
HEAD = '''"""What records hold, as classes: the whole of `run.json`, and the summary of every measurement.

Written by scripts/python_types.py from docs/schema; do not edit. Units are in the names: `_ms`, `_mbps` (10^6 bit/s),
`_pct` (per cent), `_bytes` (octets). What was not measured is None.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .figures import Figures
'''
PLAIN = {"number": "float", "integer": "int", "string": "str", "boolean": "bool"}

Schema = dict[str, Any]


def load() -> dict[str, Schema]:
    def read(name: str) -> Schema:
        schema: Schema = json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text())
        return schema

    return {name: read(name) for name in FILES}


def shared(schemas: dict[str, Schema]) -> set[str]:
    """Names that mean the same wherever they are defined more than once."""
    seen: dict[str, list[str]] = {}
    for schema in schemas.values():
        for name, definition in schema.get("$defs", {}).items():
            seen.setdefault(name, []).append(json.dumps(definition, sort_keys=True))
    return {name for name, texts in seen.items() if len(texts) > 1 and len(set(texts)) == 1}


def literal(schema: Schema) -> str | None:
    """The words of an enumeration, if it is one."""
    words = schema.get("enum") or [part.get("const") for part in schema.get("oneOf", [])]
    words = [word for part in schema.get("oneOf", []) for word in part.get("enum", [])] or words
    if words and all(isinstance(word, str) for word in words):
        return "Literal[" + ", ".join(f'"{word}"' for word in words) + "]"
    return None


class Module:
    """The classes of one file."""

    def __init__(self, prefix: str, schema: Schema, common: set[str]) -> None:
        self.prefix, self.schema, self.common = prefix, schema, common
        self.definitions: Schema = schema.get("$defs", {})

    def name(self, definition: str) -> str:
        if definition in self.common:
            return definition
        return definition if definition.startswith(self.prefix) else self.prefix + definition

    def kind(self, schema: Any) -> tuple[str, str | None]:
        """The annotation, and the class of what is inside it, if that is one of ours."""
        if not isinstance(schema, dict) or not schema:
            return "Any", None
        if "$ref" in schema:
            return self.referred(schema["$ref"].rsplit("/", 1)[1])
        if "allOf" in schema and len(schema["allOf"]) == 1:
            return self.kind(schema["allOf"][0])
        if "anyOf" in schema:
            parts = [self.kind(part) for part in schema["anyOf"]]
            inside = [inner for _, inner in parts if inner]
            return union([part for part, _ in parts]), inside[0] if inside else None
        if words := literal(schema):
            return words, None
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return union([self.kind({**schema, "type": kind})[0] for kind in kinds]), None
        if kinds == "array":
            annotation, inner = self.kind(schema.get("items"))
            return f"list[{annotation}]", inner
        if kinds == "object":
            annotation, inner = self.kind(schema.get("additionalProperties"))
            return f"dict[str, {annotation}]", f"{{}}{inner}" if inner else None
        if kinds == "null":
            return "None", None
        return PLAIN.get(kinds or "", "Any"), None

    def referred(self, name: str) -> tuple[str, str | None]:
        definition = self.definitions[name]
        if "properties" in definition:
            return self.name(name), self.name(name)
        return self.kind(definition)

    def classes(self, done: set[str]) -> list[str]:
        texts: list[str] = []
        for name, definition in self.definitions.items():
            if "properties" in definition and self.name(name) not in done:
                done.add(self.name(name))
                texts.append(self.text(self.name(name), definition))
        top = "RunFile" if self.prefix == "Run" else self.prefix + "Summary"
        return [*texts, self.text(top, self.schema)]

    def text(self, name: str, schema: Schema) -> str:
        lines = [f"class {name}(Figures):", *documented(schema.get("description", name))]
        parts: dict[str, str] = {}
        for field, part in schema["properties"].items():
            annotation, inner = self.kind(part)
            if inner:
                parts[field] = inner
            if keyword.iskeyword(field):
                continue
            lines += ["", f"    {field}: {annotation}"]
            lines += documented(part.get("description", "")) if part.get("description") else []
        if parts:
            table = ", ".join(f'"{field}": "{inner}"' for field, inner in parts.items())
            lines += ["", f"    _parts: ClassVar[dict[str, str]] = {{{table}}}"]
        return "\n".join(lines)


def union(parts: list[str]) -> str:
    if "Any" in parts:
        return "Any"
    seen = list(dict.fromkeys(parts))
    return " | ".join([part for part in seen if part != "None"] + ["None"] * ("None" in seen))


def documented(text: str) -> list[str]:
    text = " ".join(text.split()).replace("\\", "\\\\")
    lines = textwrap.wrap(f'"""{text}"""', 100, break_long_words=False, break_on_hyphens=False)
    return ["    " + line for line in lines]


def written() -> str:
    schemas = load()
    common = shared(schemas)
    done: set[str] = set()
    texts = [HEAD.rstrip()]
    for name, prefix in FILES.items():
        texts += Module(prefix, schemas[name], common).classes(done)
    return "\n\n\n".join(texts) + "\n"


def main() -> int:
    text = written()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text)
        return 0
    if TARGET.read_text() == text:
        return 0
    print("python_types: python/isobath/summaries.py is not that of docs/schema - run scripts/python_types.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
