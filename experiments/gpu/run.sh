#!/bin/sh
# Unpacks the parts beside it and tries winnow on this machine's GPU:
#
#	sh run.sh [OUT] [flags of the program: -minutes 5, -only parity, -device cpu -small …]
#
# OUT (default: gpu-results here) gets gpu.json. It takes 9 minutes at most; called again with the same OUT it goes on
# where it was stopped.
# WORK is where the parts are unpacked, 600 MB; the default is winnow-gpu in the folder for temporary files. CUDA's and
# cuDNN's libraries are looked for in LD_LIBRARY_PATH, where the system looks, in Python's nvidia packages and in usual places.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=gpu-results
case ${1:-} in
-* | "") ;;
*) out=$1 && shift ;;
esac
work=${WORK:-${TMPDIR:-/tmp}/winnow-gpu}

if ! cmp -s "$here/SHA256SUMS" "$work/SHA256SUMS"; then
	(cd "$here" && sha256sum -c --quiet SHA256SUMS) || {
		echo "run.sh: a part is missing or damaged, expected those of $here/SHA256SUMS: copy them again" >&2
		exit 1
	}
	rm -rf "$work"
	mkdir -p "$work"
	if command -v xz >/dev/null; then
		cat "$here"/part.* | xz -d | tar x -C "$work"
	else # Python can do it too
		cat "$here"/part.* | python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.stdin.buffer), sys.stdout.buffer)' | tar x -C "$work"
	fi
	cp "$here/SHA256SUMS" "$work/SHA256SUMS" # last: what was broken off is unpacked again
fi

# Folders to look in, a line each: of Python's packages, then of CUDA, drivers and distributions.
places() {
	for python in python3 /opt/*/bin/python3 /opt/*/.venv/bin/python3 /opt/conda/bin/python3; do
		if command -v "$python" >/dev/null 2>&1; then
			"$python" -c 'import sys; print("\n".join(p + "/nvidia" for p in sys.path if p))' 2>/dev/null || true
		fi
	done
	ls -d /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/wsl/lib \
		/usr/lib/x86_64-linux-gnu /usr/lib64 /opt/cuda*/lib64 2>/dev/null || true
}

system=$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null || true)
path=${LD_LIBRARY_PATH:-}
for name in libcublasLt.so.13 libcublas.so.13 libcudart.so.13 libcurand.so.10 libcudnn.so.9 libcuda.so.1 libnvrtc.so.13; do
	found=
	case $system in *"$name "*) found=system ;; esac
	old=$IFS
	IFS=:
	for dir in $path; do
		if [ -e "$dir/$name" ]; then found=$dir; fi
	done
	IFS=$old
	if [ -z "$found" ]; then
		file=$(places | while read -r dir; do
			if [ -d "$dir" ]; then find -L "$dir" -maxdepth 3 -name "$name" 2>/dev/null; fi
		done | head -n 1)
		if [ -n "$file" ]; then
			found=$(dirname "$file")
			path=${path:+$path:}$found
		fi
	fi
	echo "run.sh: $name: ${found:-NOT FOUND}" >&2
done
export LD_LIBRARY_PATH="$path"

exec "$work/gpu" -minutes 9 -out "$out" -models "$work/models" -ort-lib "$work/libonnxruntime.so.1" "$@"
