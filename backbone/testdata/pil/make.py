#!/usr/bin/env python3
"""Makes the images of this folder: NAME.EXT as an encoder wrote it, and NAME.EXT.png, the pixels that PIL reads from it
(Image.open(f).convert("RGB")); resize-*.png, what PIL makes of resize.png.

Run by hand, once, in this folder: python3 make.py   (Pillow 9.4.0 with libjpeg-turbo 2.1.5, numpy 1.24.2)
"""
import io, struct, zlib
import numpy as np
from PIL import Image


def picture(w, h):
    """Smooth shading with hard edges in colour: methods of interpolating chroma differ most here."""
    y, x = np.mgrid[0:h, 0:w].astype(float)
    r = 127 + 120 * np.sin(x / 5 + y / 9)
    g = 127 + 120 * np.cos(x / 7 - y / 4)
    b = 255 * x / max(w - 1, 1)
    p = np.stack([r, g, b], -1)
    p[(x // 6 + y // 5) % 4 == 0] = (230, 20, 30)
    p[(x // 4 + y // 7) % 5 == 0] = (10, 40, 220)
    p[(x - w / 2) ** 2 + (y - h / 2) ** 2 < (min(w, h) / 5) ** 2] = (250, 250, 240)
    return Image.fromarray(np.clip(p, 0, 255).astype(np.uint8))


def see(name):
    Image.open(name).convert("RGB").save(name + ".png", optimize=True)


def keep(name, img, **options):
    img.save(name, **options)
    see(name)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png16(name, array):
    """A PNG of 16 bits a sample, which PIL itself cannot write in colour."""
    h, w, c = array.shape
    rows = b"".join(b"\0" + array[y].astype(">u2").tobytes() for y in range(h))
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 16, {3: 2, 4: 6}[c], 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


base = picture(37, 29)
alpha = Image.fromarray((np.mgrid[0:29, 0:37][1] * 255 // 36).astype(np.uint8))
rgba = base.copy()
rgba.putalpha(alpha)

for sub, name in enumerate(["444", "422", "420"]):
    keep(f"jpeg-{name}.jpg", base, quality=92, subsampling=sub)
keep("jpeg-progressive.jpg", base, quality=85, subsampling=2, progressive=True)
keep("jpeg-grey.jpg", base.convert("L"), quality=92)
keep("jpeg-cmyk.jpg", base.convert("CMYK"), quality=95)
for w, h in [(1, 1), (2, 3), (4, 4), (5, 2), (16, 16), (6, 33)]:
    keep(f"jpeg-{w}x{h}.jpg", picture(w, h), quality=92, subsampling=2)
keep("jpeg-3x5-422.jpg", picture(3, 5), quality=92, subsampling=1)
keep("png-rgb.png", base)
keep("png-alpha.png", rgba)
keep("png-grey.png", base.convert("L"))
keep("png-grey-alpha.png", rgba.convert("LA"))
keep("png-one-bit.png", base.convert("1"))
keep("png-palette.png", base.quantize(50), transparency=3)
deep = np.asarray(rgba).astype(np.uint16) * 257
deep[..., :3] ^= 0x33  # low bytes, which must have no effect
png16("png-16.png", deep[..., :3]); see("png-16.png")
png16("png-16-alpha.png", deep); see("png-16-alpha.png")
keep("gif.gif", base.quantize(60))
keep("bmp-24.bmp", base)
keep("bmp-8.bmp", base.quantize(40))
keep("webp-lossy.webp", base, quality=90)
keep("webp-lossy-even.webp", picture(24, 18), quality=90)
keep("webp-alpha.webp", rgba, quality=90)
keep("webp-lossless.webp", base, lossless=True)

# A GIF whose first frame covers a part of the screen.
frame = base.crop((0, 0, 11, 9)).quantize(16)
buf = io.BytesIO()
frame.save(buf, "GIF")
g = bytearray(buf.getvalue())
g[6:10] = struct.pack("<HH", 20, 15)
at = g.index(b"\x2c", 13 + 3 * 2 ** ((g[10] & 7) + 1))
g[at + 1:at + 5] = struct.pack("<HH", 4, 5)
open("gif-part.gif", "wb").write(g)
see("gif-part.gif")

# The same with a transparent colour, which shows outside the frame.
frame.save("gif-part-clear.gif", transparency=5)
g = bytearray(open("gif-part-clear.gif", "rb").read())
g[6:10] = struct.pack("<HH", 20, 15)
at = g.index(b"\x2c", 13 + 3 * 2 ** ((g[10] & 7) + 1))
g[at + 1:at + 5] = struct.pack("<HH", 4, 5)
open("gif-part-clear.gif", "wb").write(g)
see("gif-part-clear.gif")

# Two columns of chroma: too narrow for libjpeg to interpolate.
narrow = Image.new("RGB", (4, 6), (220, 30, 20))
narrow.paste((20, 40, 230), (2, 0, 4, 6))
keep("jpeg-4x6-422.jpg", narrow, quality=95, subsampling=1)
keep("jpeg-4x6-420.jpg", narrow, quality=95, subsampling=2)

# Resize on the shorter side and centre crop, as torchvision's transforms do with PIL images.
big = picture(61, 47)
big.save("resize.png")
ways = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}


def crop(img, side):
    w, h = img.size
    if side > w or side > h:
        left, top = max((side - w) // 2, 0), max((side - h) // 2, 0)
        room = Image.new("RGB", (max(w, side), max(h, side)))
        room.paste(img, (left, top))
        img, (w, h) = room, room.size
    top, left = int(round((h - side) / 2.0)), int(round((w - side) / 2.0))
    return img.crop((left, top, left + side, top + side))


for way, code in ways.items():
    for side, cut in [(32, 28), (33, 20), (90, 57), (47, 40), (24, 36)]:
        out = big.resize((int(side * 61 / 47), side), code)
        crop(out, cut).save(f"resize-{way}-{side}-{cut}.png", optimize=True)
    crop(big.resize((40, 40), code), 40).save(f"resize-{way}-exact-40.png", optimize=True)
    crop(big.transpose(Image.TRANSPOSE).resize((31, int(31 * 61 / 47)), code), 24).save(f"resize-{way}-tall.png", optimize=True)
big.convert("L").resize((40, 40), Image.BICUBIC).save("resize-grey-exact-40.png", optimize=True)

# EXIF orientations, and what PIL's exif_transpose makes of them.
from PIL import ImageOps

small = picture(13, 8)
for o in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = o
    kinds = ["png"] if o != 6 else ["png", "jpg", "webp"]
    for kind in kinds:
        name = f"exif-{o}.{kind}" if kind == "png" else f"exif-{kind}.{kind}"
        options = {"jpg": dict(quality=92), "webp": dict(lossless=True), "png": {}}[kind]
        small.save(name, exif=exif, **options)
        ImageOps.exif_transpose(Image.open(name)).convert("RGB").save(name.rsplit(".", 1)[0] + "-turned.png")
