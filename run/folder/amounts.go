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

// NoiseRate is an estimate of the share of wrong labels, as stored in files.
type NoiseRate struct {
	Method string  `json:"method"`
	Rate   float64 `json:"rate"`
	Low    float64 `json:"low"` // Low and High are the 95 % interval
	High   float64 `json:"high"`
	Judged int     `json:"judged"`       // number of images used for the estimate
	Of     int     `json:"of,omitempty"` // number of labelled images they were drawn from; 0: all were used
}

// WrittenRate converts an estimate to the form stored in files.
func WrittenRate(e noiserate.Estimate) NoiseRate {
	return NoiseRate{Method: e.Method, Rate: e.Rate, Low: e.Low, High: e.High, Judged: e.Judged}
}

// Asked returns a text such as " of 1000 of 3000 images", or "" if the estimate uses all images.
func (e NoiseRate) Asked() string {
	if e.Of == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d of %d images", e.Judged, e.Of)
}

// String returns the estimate as text.
func (e NoiseRate) String() string {
	return fmt.Sprintf("%.1f %% (95 %%: %.1f to %.1f %%, by %s)", 100*e.Rate, 100*e.Low, 100*e.High, e.Method)
}

// Share is the share of a network's weights that were trained, as stored in files.
type Share struct {
	From    string `json:"from"` // name of the backbone before the training
	SHA256  string `json:"from_sha256"`
	Trained int64  `json:"trained_weights"` // number of trained weights
	Of      int64  `json:"weights"`         // number of all trainable weights
	Tensors int    `json:"trained_tensors"`
}

// Percent returns the share as text, such as "12.5 %".
func (s Share) Percent() string {
	return fmt.Sprintf("%.3g %%", 100*float64(s.Trained)/float64(max(s.Of, 1)))
}

// FileSum returns the SHA-256 of a file, "" for a folder.
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
