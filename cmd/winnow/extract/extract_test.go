package extract

import (
	"testing"

	"winnow/backbone"
	"winnow/cluster"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/models"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	crop, no := 96, false
	views, err := backbone.ParseViews("center+flip", 1)
	if err != nil {
		t.Fatal(err)
	}
	termtest.Check(t, newExtractCommand, map[string]Options{
		"--manifest m.csv --model net --out f --views center+flip --batch 7 --dtype float16 --shard 1/2 --crop 96 " +
			"--exif=false --strict": {
			Manifest: location.At("m.csv"), Model: "net", Out: "f", DType: "float16",
			Shard: cluster.Shard{Index: 1, Of: 2}, Settings: models.Settings{Crop: &crop, EXIF: &no},
			Extract: backbone.ExtractConfig{Batch: 7, MaxPixels: backbone.DefaultMaxPixels, Strict: true, Views: views},
		},
	}, []string{"--manifest m --model n --out f more", "--manifest m --model n --out f --batch 0",
		"--manifest m --model n --out f --dtype int8", "--manifest m --model n --out f --views nix",
		"--manifest m --model n --out f --views nix2", "--model n --out f"})
}
