#!/bin/sh
# Packs all that the experiment needs on a machine without network into a folder of parts: this program, winnow, ONNX
# Runtime with its CUDA provider and networks. From the repository's root: make gpu-bundle, or
#
#	experiments/gpu/bundle.sh [OUT] [MIB_A_PART]
#
# SHARED is a folder with assets/models/*.onnx; without it the drawn networks alone are tried. MODELS names those to take.
# WINNOW_CUDA is a folder with ONNX Runtime's three libraries; without it `winnow runtime install --cuda` fetches them.
set -eu
out=${1:-gpu-bundle} size=${2:-48} shared=${SHARED:-../shared}
go=${GO:-go}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/all/models" "$out"

"$go" build -ldflags='-s -w' -o "$work/all/winnow" ./cmd/winnow
"$go" -C experiments build -ldflags='-s -w' -o "$work/all/gpu" ./gpu

libraries=${WINNOW_CUDA:-}
if [ -z "$libraries" ]; then
	XDG_CACHE_HOME="$work/cache" "$work/all/winnow" runtime install --cuda
	libraries=$(echo "$work"/cache/winnow/onnxruntime/*)
fi
for name in libonnxruntime.so.1 libonnxruntime_providers_shared.so libonnxruntime_providers_cuda.so; do
	cp "$libraries/$name" "$work/all/"
done
for name in ${MODELS:-mobilenetv2-features googlenet-bvlc squeezenet1.1 resnet50v2-stage3-features}; do
	if [ -f "$shared/assets/models/$name.onnx" ]; then
		cp "$shared/assets/models/$name.onnx" "$work/all/models/"
	else
		echo "gpu-bundle: no $shared/assets/models/$name.onnx: left out" >&2
	fi
done
chmod -R u+w "$work/all"
rm -f "$out"/part.* "$out/SHA256SUMS"
tar c --sort=name -C "$work/all" . | xz --x86 --lzma2="preset=${PRESET:-1},dict=128MiB" | split -b "${size}M" -d - "$out/part."
cp experiments/gpu/run.sh "$out/run.sh"
(cd "$out" && sha256sum part.* run.sh >SHA256SUMS)
du -sh "$out"
ls "$out"
