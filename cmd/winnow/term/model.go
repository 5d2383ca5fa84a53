package term

import (
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/models"
)

// PreprocessingFlags returns the flags for a backbone's preprocessing and feature tensor.
func PreprocessingFlags() []cli.Flag {
	const theModels = "the model's or the preset's" // not given differs from zero
	return []cli.Flag{
		&cli.StringFlag{Name: "preset", Usage: "prepare images as for `NAME`: " + strings.Join(models.Presets(), ", ")},
		&cli.StringFlag{Name: "output",
			Usage: "`TENSOR` that is the feature, or cls, mean or pooled of a vision transformer (default: found " +
				"in the graph)"},
		&cli.GenericFlag{Name: "resize", Value: new(models.Resize), DefaultText: theModels,
			Usage: "`PIXELS|WAY`: the shorter side before the crop (0: no resize); or squash (the whole picture, " +
				"distorted), short (crop the middle), long (the whole picture, padded with black)"},
		&cli.BoolFlag{Name: "exact", DefaultText: theModels, Usage: "resize to a square without keeping the aspect"},
		&cli.IntFlag{Name: "crop", DefaultText: theModels, Usage: "side of the network's input, `PIXELS`"},
		&cli.GenericFlag{Name: "size", Value: new(models.Size), DefaultText: theModels,
			Usage: "`HEIGHTxWIDTH` of the network's input (256x128) if its file leaves it open; a resize follows"},
		&cli.StringFlag{Name: "interpolation", Usage: "`WAY` to resize: bilinear, bicubic or lanczos"},
		&cli.StringFlag{Name: "channels", Usage: "`ORDER` of the colours: RGB, BGR or L (grey)"},
		&cli.Float64Flag{Name: "scale", DefaultText: theModels,
			Usage: "multiply each byte by `X` first (1, or 0.00392157 for 1/255)"},
		&cli.GenericFlag{Name: "mean", Value: new(models.Floats),
			Usage: "then subtract `R,G,B`, in the network's channel order"},
		&cli.GenericFlag{Name: "std", Value: new(models.Floats), Usage: "then divide by `R,G,B`"},
		&cli.BoolFlag{Name: "exif", Value: true, DefaultText: "true",
			Usage: "turn images as their EXIF orientation says; --exif=false: not, as in the papers"},
	}
}

// ModelSettings reads PreprocessingFlags. Settings that are not given stay nil.
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
