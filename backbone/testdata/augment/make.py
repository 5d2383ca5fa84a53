#!/usr/bin/env python3
"""Makes views.json and views.png: the views that torchvision and PIL make of ../pil/resize.png with fixed parameters.

views.json lists the cases in order; view i is the square of 32 pixels from row 32*i on of views.png (grey ones as
three equal channels). "every" are checksums (CRC-32 of the RGB bytes) of a change of colour applied to all 2^24
colours, red the slowest, blue the fastest.

Run by hand, once, in this folder: python3 make.py   (Pillow 9.4.0, torchvision 0.14.1, numpy 1.24.2)
"""
import json, math, zlib
import numpy as np
from PIL import Image
import torchvision.transforms.functional as F
from torchvision.transforms import InterpolationMode as M

SIDE = 32
picture = Image.open("../pil/resize.png").convert("RGB")
cases, views = [], []


def keep(img, **case):
    assert img.size == (SIDE, SIDE), img.size
    cases.append(case)
    views.append(img.convert("RGB"))


# boxes are x, y, width, height
for box in [(0, 0, 61, 47), (3, 5, 40, 30), (20, 1, 12, 46), (58, 44, 3, 3), (10, 20, 1, 1), (7, 9, 32, 32)]:
    for way in ["bilinear", "bicubic"]:
        x, y, w, h = box
        for flip in [False, True]:
            v = F.resized_crop(picture, y, x, h, w, (SIDE, SIDE), M(way))
            keep(F.hflip(v) if flip else v, kind="resized", box=box, way=way, flip=flip)
grey = picture.convert("L")
keep(F.resized_crop(grey, 5, 3, 30, 40, (SIDE, SIDE), M("bilinear")), kind="resized", box=(3, 5, 40, 30), way="bilinear", flip=False, grey=True)

# resize (0: none), exact, padding, corner of the crop in the padded picture
for resize, exact, pad, x, y in [(37, True, 0, 0, 0), (37, True, 0, 5, 2), (37, False, 0, 11, 4), (32, True, 4, 0, 8),
                                 (32, True, 4, 7, 1), (30, False, 3, 12, 3), (0, False, 4, 37, 0), (0, False, 2, 33, 19)]:
    v = picture if resize == 0 else F.resize(picture, [resize, resize] if exact else resize, M("bilinear"))
    keep(F.crop(F.pad(v, pad), y, x, SIDE, SIDE), kind="random", resize=resize, exact=exact, pad=pad, x=x, y=y)

view = F.resize(picture, [SIDE, SIDE], M("bilinear"))
CHANGE = {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast, "saturation": F.adjust_saturation, "hue": F.adjust_hue}
sequences = [[[k, f]] for k in ["brightness", "contrast", "saturation"] for f in [0, 0.37, 0.6, 1, 1.4, 2.9]]
sequences += [[["hue", f]] for f in [-0.5, -0.1, -0.033, 0, 0.05, 0.1, 0.5]]
sequences += [[["brightness", 1.31], ["contrast", 0.77], ["saturation", 1.4], ["hue", 0.07]],
              [["hue", -0.09], ["saturation", 0.62], ["brightness", 0.61], ["contrast", 1.38]],
              [["contrast", 1.21], ["hue", 0.02]]]
for steps in sequences:
    for l in [False, True]:
        if l and len(steps) == 1 and steps[0][1] not in (0.6, 1.4, 0.1):
            continue
        v = grey.resize((SIDE, SIDE), Image.BILINEAR) if l else view
        for k, f in steps:
            v = CHANGE[k](v, f)
        keep(v, kind="colour", steps=steps, grey=l)
keep(F.rgb_to_grayscale(view, 3), kind="togrey")

# warps of the view with PIL's affine transform; the view's border is repeated because PIL would read black beyond it
for angle, zoom, right, down in [(0, 1, 0.125, -0.0625), (0, 1, 0.1, 0.03), (10, 1, 0, 0), (-7.5, 0.9, 0.05, -0.08), (3, 1.1, -0.1, 0.1), (90, 1, 0, 0)]:
    n = 40
    a = np.pad(np.asarray(view), ((n, n), (n, n), (0, 0)), mode="edge")
    s, c = math.sin(math.radians(angle)) / zoom, math.cos(math.radians(angle)) / zoom
    mx, my = SIDE / 2 + right * SIDE, SIDE / 2 + down * SIDE  # new place of the centre
    # PIL's coordinates are those of corners: source = A (x - m) + centre of the padded picture
    m = [c, s, SIDE / 2 + n - c * mx - s * my, -s, c, SIDE / 2 + n + s * mx - c * my]
    keep(Image.fromarray(a).transform((SIDE, SIDE), Image.AFFINE, m, Image.BILINEAR), kind="warp", angle=angle, zoom=zoom, right=right, down=down)

n = np.arange(1 << 24, dtype=np.uint32)
colours = Image.fromarray(np.stack([n >> 16, n >> 8 & 255, n & 255], -1).astype(np.uint8).reshape(4096, 4096, 3))
every = [[k, f, zlib.crc32(np.asarray(CHANGE[k](colours, f)).tobytes())]
         for k, f in [("hue", 0.1), ("hue", -0.07), ("saturation", 0.61), ("saturation", 1.39)]]

strip = Image.new("RGB", (SIDE, SIDE * len(views)))
for i, v in enumerate(views):
    strip.paste(v, (0, SIDE * i))
strip.save("views.png", optimize=True)
with open("views.json", "w") as f:
    f.write('{"every": ' + json.dumps(every) + ',\n"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
print(len(cases), "cases")
