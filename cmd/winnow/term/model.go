package term

import (
	"github.com/urfave/cli/v2"

	"winnow/models"
)

// PreprocessingFlags returns the flags for the preprocessing and the feature tensor of a backbone.
func PreprocessingFlags() []cli.Flag {
	const theModels = "the model's or the preset's" // the default if a flag is not given; 0 is a value
	return []cli.Flag{
		OneOf(&cli.StringFlag{Name: "preset", Usage: "prepare images as for `NAME`"}, models.Presets()...),
		&cli.StringFlag{Name: "output",
			Usage: "`TENSOR` to use as the feature, or for a vision transformer cls, mean or pooled (default: found " +
				"in the graph)"},
		&cli.GenericFlag{Name: "resize", Value: new(models.Resize), DefaultText: theModels,
			Usage: "`PIXELS|METHOD`: the shorter side before the crop (0: no resize); or squash (the whole image, " +
				"distorted), short (crop the middle), long (the whole image, padded with black)"},
		&cli.BoolFlag{Name: "exact", DefaultText: theModels, Usage: "resize to a square, ignoring the aspect ratio"},
		&cli.IntFlag{Name: "crop", DefaultText: theModels, Usage: "side of the network's input, `PIXELS`"},
		&cli.GenericFlag{Name: "size", Value: new(models.Size), DefaultText: theModels,
			Usage: "`HEIGHTxWIDTH` of the network's input (256x128) if its file leaves it open; sets the resize"},
		OneOf(&cli.StringFlag{Name: "interpolation", Usage: "`METHOD` of resizing"}, "bilinear", "bicubic", "lanczos"),
		OneOf(&cli.StringFlag{Name: "channels", Usage: "`ORDER` of the colours, L for grey"}, "RGB", "BGR", "L"),
		&cli.Float64Flag{Name: "scale", DefaultText: theModels,
			Usage: "multiply each byte by `X` first (1, or 0.00392157 for 1/255)"},
		&cli.GenericFlag{Name: "mean", Value: new(models.Floats),
			Usage: "then subtract `R,G,B`, in the network's channel order"},
		&cli.GenericFlag{Name: "std", Value: new(models.Floats), Usage: "then divide by `R,G,B`"},
		&cli.BoolFlag{Name: "exif", Value: true, DefaultText: "true",
			Usage: "rotate images by their EXIF orientation; --exif=false does not, as in the papers"},
	}
}

// ModelSettings returns the values of [PreprocessingFlags]. Settings that are not given are nil.
func ModelSettings(c *cli.Context) models.Settings {
	s := models.Settings{
		Preset: c.String("preset"), Output: c.String("output"),
		Interpolation: c.String("interpolation"), Channels: c.String("channels"),
	}
	if r, ok := c.Generic("resize").(*models.Resize); ok {
		s.Resize, s.Fit = r.Pixels, r.Fit
	}
	if size := new(models.Size); c.IsSet("size") {
		*size = *c.Generic("size").(*models.Size)
		s.Size = size
	}
	s.Exact, s.Crop, s.Scale = Given(c, "exact", c.Bool), Given(c, "crop", c.Int), Given(c, "scale", c.Float64)
	s.EXIF = Given(c, "exif", c.Bool)
	if c.IsSet("mean") {
		s.Mean = *c.Generic("mean").(*models.Floats)
	}
	if c.IsSet("std") {
		s.Std = *c.Generic("std").(*models.Floats)
	}
	return s
}
