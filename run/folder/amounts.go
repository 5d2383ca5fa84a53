package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"winnow/datasets/location"
	"winnow/filters/noiserate"
)

// NoiseRate is an estimate of the share of wrong labels as it is written.
type NoiseRate struct {
	Method string  `json:"method"`
	Rate   float64 `json:"rate"`
	Low    float64 `json:"low"` // of the interval of 95 %
	High   float64 `json:"high"`
	Judged int     `json:"judged"`       // images
	Of     int     `json:"of,omitempty"` // images with a label, of which these were drawn; 0: they are all
}

// WrittenRate returns an estimate in the form that is written.
func WrittenRate(e noiserate.Estimate) NoiseRate {
	return NoiseRate{Method: e.Method, Rate: e.Rate, Low: e.Low, High: e.High, Judged: e.Judged}
}

// Asked says of how many images the estimate is, where it is not of all; else "".
func (e NoiseRate) Asked() string {
	if e.Of == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d of %d images", e.Judged, e.Of)
}

// String returns the estimate for people.
func (e NoiseRate) String() string {
	return fmt.Sprintf("%.1f %% (95 %%: %.1f to %.1f %%, by %s)", 100*e.Rate, 100*e.Low, 100*e.High, e.Method)
}

// Share is how much of a network is trained, as it is written.
type Share struct {
	From    string `json:"from"` // the backbone as it was: its name
	SHA256  string `json:"from_sha256"`
	Trained int64  `json:"trained_weights"` // numbers
	Of      int64  `json:"weights"`         // numbers that could be
	Tensors int    `json:"trained_tensors"`
}

// Percent returns the share for people; only nothing is 0, only all of it 100.
func (s Share) Percent() string {
	p := 100 * float64(s.Trained) / float64(max(s.Of, 1))
	switch {
	case p > 0 && p < 0.5:
		return "less than 1 %"
	case p >= 99.5 && s.Trained < s.Of:
		return "more than 99 %"
	}
	return fmt.Sprintf("%.0f %%", p)
}

// FileSum returns the sha256 of a file, "" for a folder.
func FileSum(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", nil
	}
	f, err := location.At(path).Open(context.Background())
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
