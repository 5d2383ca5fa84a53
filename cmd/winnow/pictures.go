package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets/imageroot"
	"winnow/extraction"
	"winnow/internal/lookup"
)

// thumbnails reads images small, at most side pixels wide and high. One that cannot be read is nil, and told; that none
// can is an error.
func thumbnails(c *cli.Context, run *openedRun, paths []string, side int) ([]image.Image, error) {
	hint := "name the folder of the images, or a .zip file of it, with --root"
	if c.Command.Name == "map" {
		hint += "; --no-pictures leaves them out"
	}
	where := run.ImageRoot()
	root, err := imageroot.Open(where)
	if err != nil {
		return nil, withHint(err, "%s", hint)
	}
	var done func()
	if !c.Bool("quiet") {
		line := newProgressLine(c.App.ErrWriter, "pictures", time.Now)
		defer line.End()
		var mutex sync.Mutex
		n := 0
		done = func() {
			mutex.Lock()
			defer mutex.Unlock()
			n++
			line.At(n, len(paths), 0, "")
		}
	}
	small, err := backbone.Thumbnails(c.Context, root, paths, side, done)
	if err != nil {
		return nil, err
	}
	out, bad := make([]image.Image, len(paths)), []lookup.LeftOut{}
	for i, s := range small {
		if s.Err != nil {
			bad = append(bad, lookup.LeftOut{Path: paths[i], Reason: s.Err.Error()})
			continue
		}
		out[i] = s.Image
	}
	if len(bad) > 0 && len(bad) == len(paths) {
		return nil, withHint(fmt.Errorf("%s: none of %d pictures below %s can be read, the first is %s: %s", c.Command.Name, len(paths), where, bad[0].Path, bad[0].Reason), "%s", hint)
	}
	if len(bad) > 0 {
		note(c, "%d of %d pictures cannot be shown, the first is %s: %s", len(bad), len(paths), bad[0].Path, bad[0].Reason)
	}
	return out, nil
}

// pictureFiles are the pictures by path as files, each once; those that cannot be read are missing.
func pictureFiles(c *cli.Context, run *openedRun, paths []string, side int) (map[string][]byte, error) {
	paths = extraction.Distinct(paths)
	small, err := thumbnails(c, run, paths, side)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, img := range small {
		if img == nil {
			continue
		}
		if files[paths[i]], err = encodePicture(img); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.Command.Name, paths[i], err)
		}
	}
	return files, nil
}

// encodePicture is a small picture as a JPEG file, on white where it lets light through.
func encodePicture(img image.Image) ([]byte, error) {
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Rect, img, img.Bounds().Min, draw.Over)
	var b bytes.Buffer
	err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: 85})
	return b.Bytes(), err
}
