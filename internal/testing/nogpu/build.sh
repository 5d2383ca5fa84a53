#!/bin/sh
# Builds stand-ins for CUDA's libraries, by which ONNX Runtime's CUDA provider runs without a GPU (cudart.c says how far):
#
#	build.sh OUT PROVIDER
#
# PROVIDER is libonnxruntime_providers_cuda.so; what it imports and no file here has becomes a function that fails.
set -eu
out=$1 provider=$2 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
library() { # NAME SOURCE
	readelf --dyn-syms -W "$provider" | awk '{print $8}' | sed -n "s/@$1\$//p" | sort -u >"$out/imports"
	{
		cat "$here/$2"
		while read -r name; do
			grep -qE "[ *(]$name[ ()]" "$here/$2" || echo "int $name() { return 15; }"
		done <"$out/imports"
	} >"$out/source.c"
	echo "$1 { *; };" >"$out/versions"
	gcc -w -O2 -shared -fPIC -o "$out/$1" "$out/source.c" -Wl,-soname,"$1" -Wl,--version-script="$out/versions" -lpthread
}
library libcudart.so.13 cudart.c
library libcublas.so.13 cublas.c
library libcublasLt.so.13 cublaslt.c
rm "$out/imports" "$out/source.c" "$out/versions"
echo 'int nogpu;' >"$out/empty.c"
for name in nvrtc.so.13 cuda.so.1; do
	gcc -w -O1 -shared -fPIC -o "$out/lib$name" "$here/${name%%.*}.c" -Wl,-soname,"lib$name" -ldl
done
{ # the provider looks for these by name; none of them does anything
	cat "$here/cudnn.c"
	strings "$provider" | grep -E '^cudnn[A-Z][A-Za-z0-9_]*$' | sort -u | while read -r name; do
		grep -qE "[ *(]$name[ ()]" "$here/cudnn.c" || echo "int $name() { return 0; }"
	done
} >"$out/source.c"
gcc -w -O1 -shared -fPIC -o "$out/libcudnn.so.9" "$out/source.c" -Wl,-soname,libcudnn.so.9
rm "$out/source.c"
gcc -w -shared -fPIC -o "$out/libcurand.so.10" "$out/empty.c" -Wl,-soname,libcurand.so.10
rm "$out/empty.c"
