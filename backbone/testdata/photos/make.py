#!/usr/bin/env python3
"""Makes photos.json: the network input that PIL and torchvision compute from photographs outside of this repository,
and the features of two networks on it, for the tests that compare winnow with them.

Run by hand, once:   python3 make.py ASSETS > photos.json
(Pillow 9.4.0 with libjpeg-turbo 2.1.5, torchvision 0.14.1, torch 1.13.0, onnx 1.12.0, numpy 1.24.2)

ASSETS holds the reference assets: data/imagenette-val-sample.zip, data/cub200-2010-224px.zip, models/googlenet-bvlc.onnx
and models/mobilenetv2-features.onnx. This script evaluates the networks node by node with torch.

For each photograph and preparation, photos.json holds the sum of each channel over all pixels, and 128 pixels (RGB,
base64): number k is at (7919·k) mod side² in row-major order. For each network it holds every fourth number of the
features (float32 little-endian, base64). At the end is, for each archive, the sha256 of all RGB pixels of every tenth
photograph in the order of names (of all photographs with a second argument 1).
"""
import base64, hashlib, io, json, sys, zipfile
import numpy as np, onnx, torch
import torch.nn.functional as F
from onnx import numpy_helper
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import InterpolationMode as I

WAYS = {  # name: resize, crop, interpolation
    "whole": (0, 224, "bilinear"),
    "imagenet": (256, 224, "bilinear"),
    "smaller": (96, 80, "bilinear"),
    "cubic": (150, 128, "bicubic"),
}
PIXELS, STEP, EVERY = 128, 7919, 4


def prepare(img, way):
    resize, crop, how = WAYS[way]
    steps = [T.Resize(resize, I(how))] if resize else []
    return T.Compose(steps + [T.CenterCrop(crop)])(img)


class Network:
    """The few operators of the two networks, on torch."""

    def __init__(self, path):
        self.graph = onnx.load(path).graph
        self.constants = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in self.graph.initializer}
        self.input = next(i.name for i in self.graph.input if i.name not in self.constants)

    def __call__(self, x, output):
        v = dict(self.constants)
        v[self.input] = x
        for n in self.graph.node:
            a = {t.name: onnx.helper.get_attribute_value(t) for t in n.attribute}
            v[n.output[0]] = self.node(n.op_type, a, [v[k] for k in n.input if k])
        return v[output]

    @staticmethod
    def node(op, a, i):
        top, left, bottom, right = a.get("pads", [0, 0, 0, 0])
        pad, strides = (left, right, top, bottom), a.get("strides", [1, 1])
        if op == "Conv":
            return F.conv2d(F.pad(i[0], pad), *i[1:], stride=strides, groups=a.get("group", 1)) if len(i) > 2 else \
                F.conv2d(F.pad(i[0], pad), i[1], None, strides, groups=a.get("group", 1))
        if op == "MaxPool":
            return F.max_pool2d(F.pad(i[0], pad, value=-1e30), a["kernel_shape"], strides, ceil_mode=bool(a.get("ceil_mode", 0)))
        if op == "AveragePool":
            assert pad == (0, 0, 0, 0)
            return F.avg_pool2d(i[0], a["kernel_shape"], strides)
        if op == "LRN":
            return F.local_response_norm(i[0], a["size"], a["alpha"], a["beta"], a["bias"])
        if op == "Gemm":
            return i[0] @ (i[1].t() if a.get("transB", 0) else i[1]) + i[2]
        if op == "Clip":
            return i[0].clamp(float(i[1]), float(i[2])) if len(i) > 2 else i[0].clamp(a["min"], a["max"])
        return {
            "Relu": lambda: F.relu(i[0]), "Concat": lambda: torch.cat(i, a["axis"]), "Flatten": lambda: i[0].flatten(a.get("axis", 1)),
            "Reshape": lambda: i[0].reshape([int(t) for t in i[1]]), "Dropout": lambda: i[0], "Identity": lambda: i[0],
            "Add": lambda: i[0] + i[1], "GlobalAveragePool": lambda: i[0].mean((2, 3), keepdim=True),
            "ReduceMean": lambda: i[0].mean(a["axes"], keepdim=bool(a.get("keepdims", 1))),
            "Constant": lambda: torch.from_numpy(numpy_helper.to_array(a["value"]).copy()),
        }[op]()


def text(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def chosen(archive, n):
    """n images spread over the archive, or all."""
    names = sorted(k for k in archive.namelist() if k.lower().endswith((".jpg", ".jpeg")))
    return names if n is None else [names[i * len(names) // n] for i in range(n)]


def pixels(assets, every):
    """The hash of the pixels of whole archives."""
    found = {}
    for data in ("imagenette-val-sample", "cub200-2010-224px"):
        with zipfile.ZipFile(f"{assets}/data/{data}.zip") as archive:
            names = chosen(archive, None)[::every]
            h = hashlib.sha256()
            for name in names:
                h.update(np.asarray(Image.open(io.BytesIO(archive.read(name))).convert("RGB")).tobytes())
            found[data] = {"every": every, "count": len(names), "sha256": h.hexdigest()}
    return found


def main(assets, every=10):
    googlenet, mobilenet = (Network(f"{assets}/models/{m}.onnx") for m in ("googlenet-bvlc", "mobilenetv2-features"))
    normal = T.Compose([T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    photos = []
    for data, n in (("imagenette-val-sample", 10), ("cub200-2010-224px", 14)):
        with zipfile.ZipFile(f"{assets}/data/{data}.zip") as archive:
            for name in chosen(archive, n):
                img = Image.open(io.BytesIO(archive.read(name))).convert("RGB")
                entry = {"archive": data, "name": name, "ways": {}, "features": {}}
                for way in WAYS:
                    p = np.asarray(prepare(img, way))
                    at = np.arange(PIXELS) * STEP % (p.shape[0] * p.shape[1])
                    entry["ways"][way] = {"sums": [int(s) for s in p.reshape(-1, 3).astype(np.int64).sum(0)], "pixels": text(p.reshape(-1, 3)[at])}
                seen = prepare(img, "imagenet")
                caffe = torch.from_numpy(np.asarray(seen)[..., ::-1].astype(np.float32) - np.float32([104, 117, 123])).permute(2, 0, 1)
                with torch.no_grad():
                    for net, x in (("googlenet-bvlc", caffe), ("mobilenetv2-features", normal(seen))):
                        z = (googlenet if net == "googlenet-bvlc" else mobilenet)(x[None], "features").numpy().reshape(-1)
                        entry["features"][net] = text(z[::EVERY].astype("<f4"))
                photos.append(entry)
    json.dump({"ways": {w: dict(zip(("resize", "crop", "interpolation"), v)) for w, v in WAYS.items()}, "photos": photos, "whole": pixels(assets, every)}, sys.stdout, indent=1)
    print()


main(sys.argv[1], *map(int, sys.argv[2:]))
