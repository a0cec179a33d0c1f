#!/usr/bin/env bash
# Builds the image of docs/examples/Containerfile and runs a server and a worker in it, without a registry.
#
#     benchmarks/container.sh            needs root, buildah and debootstrap (apt-get install buildah debootstrap crun)
#
# The base is made by debootstrap, and the packages are wheels that pip gets here for the base's Python.
# Prints the sizes and what the worker says; exit code 77 where the tools are missing.
set -euo pipefail
for tool in buildah debootstrap; do
    command -v $tool >/dev/null || { echo "skipped: needs $tool, see the head of this script" >&2; exit 77; }
done
project=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
trap 'buildah rm --all >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources)
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$work/root" "$mirror" >"$work/log"
base=$(buildah from scratch)
buildah add -q "$base" "$work/root" / >/dev/null
buildah commit -q "$base" langford-base:here >/dev/null

mkdir "$work/context"
git -C "$project" archive HEAD | tar x -C "$work/context"
python3 -m venv "$work/pip"
"$work/pip/bin/pip" wheel -q --no-deps -w "$work/own" "$project"
"$work/pip/bin/pip" download -q -d "$work/context/wheels" --only-binary=:all: --python-version 3.11 --implementation cp \
    "$(echo "$work"/own/*.whl)[server,postgres]" 'setuptools>=77' wheel
buildah bud -q --build-arg BASE=localhost/langford-base:here \
    --build-arg PIP_OPTIONS='--no-index --find-links /src/wheels' \
    -t langford:here -f docs/examples/Containerfile "$work/context" >/dev/null
buildah images

container=$(buildah from langford:here)
inside() { buildah run "$container" -- env HOME=/ "$@"; }
inside langford create 11 --name eleven
buildah run "$container" -- langford serve eleven --host 0.0.0.0 --port 18765 --reached-as localhost &
server=$!
until inside test -f eleven.join 2>"$work/log"; do kill -0 $server; sleep 1; done
inside langford work eleven.join
inside langford result eleven
kill $server; wait $server || true
