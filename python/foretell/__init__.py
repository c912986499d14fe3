"""Runs foretell from Python: the program does the work, this finds and starts it."""

import json
import os
import shutil
import subprocess
import sysconfig

__all__ = ["ForetellError", "program", "run"]

# The exit codes that are answers: nothing found, a race, undecided pairs.
ANSWERS = (0, 1, 3)


class ForetellError(RuntimeError):
    """foretell could not do what it was asked for; the text is what it said."""


def program():
    """The path of the program: FORETELL, or beside this Python, or on the PATH."""
    named = os.environ.get("FORETELL")
    if named:
        return named
    beside = os.path.join(sysconfig.get_path("scripts"), "foretell")
    found = beside if os.access(beside, os.X_OK) else shutil.which("foretell")
    if not found:
        raise ForetellError("the program foretell is not installed here; FORETELL=PATH names it")
    return found


def run(arguments, **options):
    """Runs foretell with these arguments; gives what it printed. Its complaints are those of the error."""
    done = subprocess.run(
        [program(), *map(os.fspath, arguments)], capture_output=True, text=True, check=False, **options
    )
    if done.returncode not in ANSWERS:
        raise ForetellError(done.stderr.strip() or f"foretell ended with {done.returncode}")
    return done.stdout


def report(text):
    """A JSON report as data."""
    return json.loads(text)
