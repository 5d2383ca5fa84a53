#!/bin/sh
# Packs all that the experiment needs on a machine without network into a folder of parts: this program, winnow, ONNX
# Runtime with its CUDA provider, networks and photographs. From the repository's root: make gpu-bundle, or
#
#	experiments/gpu/bundle.sh [OUT] [MIB_A_PART]
#
# SHARED is a folder with assets/models/*.onnx and assets/data/imagenette-val-sample.zip; without it the drawn networks alone
# are tried. WINNOW_CUDA is a folder with ONNX Runtime's three libraries; without it `winnow runtime install --cuda` fetches them.
set -eu
out=${1:-gpu-bundle} size=${2:-48} shared=${SHARED:-../shared}
go=${GO:-go}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/all/models" "$out"

"$go" build -trimpath -ldflags='-s -w' -o "$work/all/winnow" ./cmd/winnow
"$go" build -trimpath -ldflags='-s -w' -o "$work/all/gpu" ./experiments/gpu

libraries=${WINNOW_CUDA:-}
if [ -z "$libraries" ]; then
	XDG_CACHE_HOME="$work/cache" "$work/all/winnow" runtime install --cuda
	libraries=$(echo "$work"/cache/winnow/onnxruntime/*)
fi
for name in libonnxruntime.so.1 libonnxruntime_providers_shared.so libonnxruntime_providers_cuda.so; do
	cp "$libraries/$name" "$work/all/"
done
for file in "$shared"/assets/models/*.onnx; do
	if [ -f "$file" ]; then cp "$file" "$work/all/models/"; fi
done
if [ -f "$shared/assets/data/imagenette-val-sample.zip" ]; then
	cp "$shared/assets/data/imagenette-val-sample.zip" "$work/all/images.zip"
else
	echo "gpu-bundle: no $shared/assets: only drawn networks, no photographs" >&2
fi

rm -f "$out"/part.* "$out/SHA256SUMS"
# The provider is compressed already: a higher level takes minutes and saves little.
tar c -C "$work/all" . | xz -T0 -1 | split -b "${size}M" -d - "$out/part."
cp experiments/gpu/run.sh "$out/run.sh"
(cd "$out" && sha256sum part.* run.sh >SHA256SUMS)
du -sh "$out"
ls "$out"
