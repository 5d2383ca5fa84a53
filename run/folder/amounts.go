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

// NoiseRate is an estimate of the share of wrong labels, as files hold it.
type NoiseRate struct {
	Method string  `json:"method"`
	Rate   float64 `json:"rate"`
	Low    float64 `json:"low"` // of the interval of 95 %
	High   float64 `json:"high"`
	Judged int     `json:"judged"`       // images
	Of     int     `json:"of,omitempty"` // labelled images that these were drawn from; 0: these are all
}

// WrittenRate returns an estimate as files hold it.
func WrittenRate(e noiserate.Estimate) NoiseRate {
	return NoiseRate{Method: e.Method, Rate: e.Rate, Low: e.Low, High: e.High, Judged: e.Judged}
}

// Asked says how many images the estimate is of, or "" if it is of all.
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

// Share is how much of a network is trained, as files hold it.
type Share struct {
	From    string `json:"from"` // name of the backbone before the training
	SHA256  string `json:"from_sha256"`
	Trained int64  `json:"trained_weights"` // numbers
	Of      int64  `json:"weights"`         // numbers that could be trained
	Tensors int    `json:"trained_tensors"`
}

// Percent returns the share for people.
func (s Share) Percent() string {
	return fmt.Sprintf("%.3g %%", 100*float64(s.Trained)/float64(max(s.Of, 1)))
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
