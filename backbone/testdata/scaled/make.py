#!/usr/bin/env python3
"""Makes the JPEG files of this folder and scaled.json: the pixels of PIL's draft mode, reduced by 2, 4 and 8, for these
files, the JPEG files of ../pil, and photographs outside of this repository.

Run by hand, once, in this folder: python3 make.py ASSETS   (Pillow 9.4.0 with libjpeg-turbo 2.1.5, numpy 1.24.2, a C
compiler with libjpeg's headers: PIL writes neither 4:4:0 nor 4:1:1)

In scaled.json, "files" holds for each file and reduction the width, height and sha256 of the RGB pixels, row by row.
"archives" holds the sha256 of all pixels of every EVERY-th photograph of an archive, in the order of names, reduced by 2,
then 4, then 8. "views" holds for each file and size the sha256 of the RGB input of a network of that size: draft mode
reduces the image as far as it does for this size, the part that the whole image covers is resized to the size by its
shorter side, and its centre is cropped.
ASSETS holds data/imagenette-val-sample.zip and data/cub200-2010-224px.zip.
"""
import hashlib, io, json, os, subprocess, sys, tempfile, zipfile
import numpy as np
from PIL import Image

ENCODER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
int main(int n, char **v) { // width height across down progressive < rgb > jpeg
  struct jpeg_compress_struct c; struct jpeg_error_mgr e;
  c.err = jpeg_std_error(&e); jpeg_create_compress(&c); jpeg_stdio_dest(&c, stdout);
  c.image_width = atoi(v[1]); c.image_height = atoi(v[2]); c.input_components = 3; c.in_color_space = JCS_RGB;
  jpeg_set_defaults(&c); jpeg_set_quality(&c, 90, 1);
  c.comp_info[0].h_samp_factor = atoi(v[3]); c.comp_info[0].v_samp_factor = atoi(v[4]);
  if (atoi(v[5])) jpeg_simple_progression(&c);
  jpeg_start_compress(&c, 1);
  JSAMPROW row = malloc(3 * c.image_width);
  while (c.next_scanline < c.image_height && fread(row, 3, c.image_width, stdin)) jpeg_write_scanlines(&c, &row, 1);
  jpeg_finish_compress(&c); return 0; }
"""


def picture(w, h):
    """Shading, hard edges in colour and noise."""
    y, x = np.mgrid[0:h, 0:w].astype(float)
    p = np.stack([127 + 120 * np.sin(x / 9 + y / 14), 127 + 120 * np.cos(x / 11 - y / 6), 255 * x / w], -1)
    p[(x // 13 + y // 9) % 4 == 0] = (230, 20, 30)
    p[(x - w / 2) ** 2 + (y - h / 2) ** 2 < (h / 5) ** 2] = (250, 250, 240)
    p += np.random.RandomState(3).normal(0, 8, p.shape)
    return Image.fromarray(np.clip(p, 0, 255).astype(np.uint8))


def reduced(data, by):
    img = Image.open(io.BytesIO(data))
    w, h = img.size
    img.draft(img.mode, (w // by, h // by))
    assert img.decoderconfig[0] == by
    return img.convert("RGB")


def seen(data):
    found = {}
    for by in (2, 4, 8):
        if min(Image.open(io.BytesIO(data)).size) >= by:
            img = reduced(data, by)
            found[by] = [*img.size, hashlib.sha256(img.tobytes()).hexdigest()]
    return found


base = picture(83, 61)
with tempfile.TemporaryDirectory() as tmp:
    with open(tmp + "/e.c", "w") as f:
        f.write(ENCODER)
    subprocess.check_call(["cc", "-o", tmp + "/e", tmp + "/e.c", "-ljpeg"])
    for across, down, name in [(1, 1, "444"), (2, 1, "422"), (2, 2, "420"), (1, 2, "440"), (4, 1, "411")]:
        for progressive in (0, 1):
            sizes = [str(v) for v in (*base.size, across, down, progressive)]
            with open(name + "-progressive" * progressive + ".jpg", "wb") as f:
                f.write(subprocess.run([tmp + "/e", *sizes], input=base.tobytes(), stdout=subprocess.PIPE, check=True).stdout)
base.convert("L").save("grey.jpg", quality=90)

def view(data, size):
    img = Image.open(io.BytesIO(data))
    w, h = img.size
    target = (size, int(size * h / w)) if w <= h else (int(size * w / h), size)
    by = next(s for s in (8, 4, 2, 1) if min(w // target[0], h // target[1]) >= s)
    img = reduced(data, by) if by > 1 else img.convert("RGB")
    img = img.resize(target, Image.BILINEAR, box=(0, 0, w / by, h / by))
    left, top = round((target[0] - size) / 2), round((target[1] - size) / 2)
    return hashlib.sha256(img.crop((left, top, left + size, top + size)).tobytes()).hexdigest()


out = {"files": {}, "archives": {}, "views": {}}
for folder in (".", "../pil"):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jpg") and "cmyk" not in name:
            with open(os.path.join(folder, name), "rb") as f:
                found = seen(f.read())
            if found:
                out["files"][os.path.join(folder, name)] = found
            if folder == ".":
                with open(name, "rb") as f:
                    data = f.read()
                out["views"][name] = {size: view(data, size) for size in (40, 24, 14, 7)}
for name, every in [("imagenette-val-sample", 1), ("cub200-2010-224px", 10)]:
    z = zipfile.ZipFile(os.path.join(sys.argv[1], "data", name + ".zip"))
    files = sorted(n for n in z.namelist() if n.lower().endswith((".jpg", ".jpeg")))[::every]
    total = hashlib.sha256()
    for n in files:
        for by in (2, 4, 8):
            total.update(reduced(z.read(n), by).tobytes())
    out["archives"][name] = {"every": every, "count": len(files), "sha256": total.hexdigest()}
json.dump(out, sys.stdout, indent=1)
print()
