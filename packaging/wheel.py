"""Writes a Python wheel around a folder that is laid out like /usr: wheel.py FOLDER VERSION PLATFORM OUTPUT

The programs become scripts, and all other files data of the wheel: pip puts both below the prefix of the environment,
where `foretell` finds its libraries as in any other installation. The package in `python/` is importable.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

METADATA = """\
Metadata-Version: 2.1
Name: foretell
Version: {version}
Summary: Predicts data races from one run of a multithreaded program, with a proof for each
License: MIT OR Apache-2.0
Requires-Python: >=3.8
Classifier: Topic :: Software Development :: Debuggers
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: foretell\nRoot-Is-Purelib: false\nTag: {tag}\n"
# The earliest moment that an archive can hold: the same files give the same wheel.
MOMENT = (1980, 1, 1, 0, 0, 0)


def main(folder, version, platform, output):
    root, tag = pathlib.Path(folder), f"py3-none-{platform}"
    about, data = f"foretell-{version}.dist-info", f"foretell-{version}.data"
    files = []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        inside = path.relative_to(root)
        is_program = inside.parts[0] == "bin"
        name = f"{data}/scripts/{inside.name}" if is_program else f"{data}/data/{inside.as_posix()}"
        files.append((name, path.read_bytes(), 0o755 if path.stat().st_mode & 0o111 else 0o644))
    package = pathlib.Path(__file__).resolve().parent.parent / "python"
    for path in sorted(package.rglob("*.py")):
        files.append((path.relative_to(package).as_posix(), path.read_bytes(), 0o644))
    readme = (root / "share/doc/foretell/README.md").read_text(encoding="utf-8")
    files.append((f"{about}/METADATA", (METADATA.format(version=version) + readme).encode(), 0o644))
    files.append((f"{about}/WHEEL", WHEEL.format(tag=tag).encode(), 0o644))
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content, _ in files)
    files.append((f"{about}/RECORD", f"{record}{about}/RECORD,,\n".encode(), 0o644))
    wheel = pathlib.Path(output) / f"foretell-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, MOMENT)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    print(wheel)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


main(*sys.argv[1:])
