#!/usr/bin/env python3
"""Takes into the corpus what runs have found and it does not reach: small files first, and a few dozen at most.

    fuzz/merge.py PROGRAMS FOUND TARGET ...      called by scripts/fuzz.sh --merge
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
# Of a target, seeds included: the repository is no archive.
MOST_FILES = 48
LONGEST = 4_096


def merge(program, found, corpus):
    """How many files the corpus takes."""
    known = {hashlib.sha1(path.read_bytes()).hexdigest() for path in corpus.iterdir()}
    with tempfile.TemporaryDirectory() as cover:
        command = [program, "-merge=1", f"-max_len={LONGEST}", cover, corpus, found]
        subprocess.run(command, check=True, capture_output=True)
        new = [path for path in Path(cover).iterdir() if path.name not in known and path.stat().st_size <= LONGEST]
        new = sorted(new, key=lambda path: (path.stat().st_size, path.name))[:max(0, MOST_FILES - len(known))]
        for path in new:
            shutil.copyfile(path, corpus / path.name)
    return len(new)


def main():
    programs, found, *targets = sys.argv[1:]
    for target in targets:
        folder = Path(found) / target
        if folder.is_dir():
            print(f"{target}: {merge(Path(programs) / target, folder, CORPUS / target)} new")


if __name__ == "__main__":
    main()
