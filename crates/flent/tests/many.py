"""Runs Flent once for each list of arguments on standard input (JSON: a list of lists) and prints what each said (JSON).

Loading Flent and the plotting library takes longer than a plot: they are loaded once, and each run is a fork of that process.
"""

import json
import os
import runpy
import shutil
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot  # noqa: E402, F401

SAVE = matplotlib.figure.Figure.savefig


def savefig(figure, *arguments, **named):
    """Saves a figure, and prints the ends of its axes."""
    SAVE(figure, *arguments, **named)
    print("AXES", json.dumps([[axes.get_xlim(), axes.get_ylim()] for axes in figure.axes]))


matplotlib.figure.Figure.savefig = savefig

FLENT = os.path.realpath(shutil.which("flent"))
# As for a program that is run by its path.
sys.path.insert(0, os.path.dirname(FLENT))
import flent.batch  # noqa: E402, F401
import flent.formatters  # noqa: E402, F401
import flent.plotters  # noqa: E402, F401


def run(arguments):
    """Exit status, standard output and error of one run, which has a process of its own."""
    out, err = (tempfile.TemporaryFile() for _ in range(2))
    child = os.fork()
    if not child:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.argv = ["flent", *arguments]
        status = 1
        try:
            runpy.run_path(FLENT, run_name="__main__")
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        except BaseException as error:
            print(f"Traceback: {error!r}", file=sys.stderr)
        for stream in (sys.stdout, sys.stderr):
            # Flent closes what it has written to.
            if not stream.closed:
                stream.flush()
        os._exit(status if isinstance(status, int) else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = []
    for file in (out, err):
        file.seek(0)
        said.append(file.read().decode(errors="replace"))
    return {"status": status, "out": said[0], "err": said[1]}


json.dump([run(arguments) for arguments in json.load(sys.stdin)], sys.stdout)
