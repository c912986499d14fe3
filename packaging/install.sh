#!/bin/sh
# Installs foretell below a prefix: ./install.sh [--prefix FOLDER] [--uninstall]
set -eu

prefix=$([ "$(id -u)" = 0 ] && echo /usr/local || echo "$HOME/.local")
uninstall=no
while [ $# -gt 0 ]; do
    case "$1" in
        --prefix) prefix=${2:?--prefix needs a folder}; shift 2 ;;
        --uninstall) uninstall=yes; shift ;;
        *) echo "usage: ./install.sh [--prefix FOLDER] [--uninstall]" >&2; exit 2 ;;
    esac
done
here=$(cd "$(dirname "$0")" && pwd)

cd "$here/files"
find . -type f | while read -r file; do
    if [ "$uninstall" = yes ]; then
        rm -f "$prefix/$file"
    else
        mkdir -p "$prefix/$(dirname "$file")"
        # A program that runs keeps its old file.
        rm -f "$prefix/$file"
        cp -p "$file" "$prefix/$file"
    fi
done
if [ "$uninstall" = yes ]; then
    rmdir "$prefix/lib/foretell" "$prefix/share/doc/foretell" 2>/dev/null || true
    echo "foretell is removed from $prefix"
    exit 0
fi
echo "foretell is installed in $prefix"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "add it to your path: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
echo "what works here, and what to install: $prefix/bin/foretell doctor"
