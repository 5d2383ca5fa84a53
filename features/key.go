package features

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Key describes which features a store holds. Two stores with equal keys hold the same numbers (on the same
// machine, to the bit); labels are no part of it, so every noise level of a dataset shares one store.
type Key struct {
	Model         string   `json:"model"`         // sha256 of the ONNX file, hexadecimal
	Output        string   `json:"output"`        // name of the tensor the features are
	Preprocessing string   `json:"preprocessing"` // canonical text of size, crop, mean, …
	Views         []string `json:"views"`         // the pictures made of each image, the first of them "center"
	Images        string   `json:"images"`        // HashPaths of the image list

	// Decoder is what read the pictures and its version, "" in stores of before it was written down: the same
	// preprocessing of pictures that were decoded otherwise gives other numbers.
	Decoder string `json:"decoder,omitempty"`

	// DType is Float16 where the numbers are stored so; "" for float32, as stores always were.
	DType string `json:"dtype,omitempty"`
}

// MaxViews bounds the views of an image: more is a mistake.
const MaxViews = 256

// views returns the number of views, of which a store has at least one.
func (k Key) views() int { return max(len(k.Views), 1) }

// plain reports whether the matrix is n×d of float32, which every winnow reads.
func (k Key) plain() bool { return k.views() == 1 && k.DType == "" }

// Element returns the type of the stored numbers.
func (k Key) Element() string {
	if k.DType == "" {
		return Float32
	}
	return k.DType
}

// descr returns numpy's name of that type.
func (k Key) descr() string {
	if k.DType == Float16 {
		return "<f2"
	}
	return "<f4"
}

// shape returns that of the matrix: n×d, or n×views×d, so that all views of an image lie together: they are made
// together, shards follow each other, and a reader of one view reads whole vectors.
func (k Key) shape(rows, dim int) []int {
	if k.views() == 1 {
		return []int{rows, dim}
	}
	return []int{rows, k.views(), dim}
}

// check refuses what no store can be.
func (k Key) check() error {
	if k.DType != "" && k.DType != Float16 {
		return fmt.Errorf("element type %q, expected %s or none, which is %s", k.DType, Float16, Float32)
	}
	if len(k.Views) > MaxViews {
		return fmt.Errorf("%d views, expected at most %d", len(k.Views), MaxViews)
	}
	return nil
}

// Differs describes which part of other is not that of k, or "" where the keys are equal.
func (k Key) Differs(other Key) string {
	switch {
	case k.Model != other.Model:
		return fmt.Sprintf("made with model %s, asked for %s", short(k.Model), short(other.Model))
	case k.Output != other.Output:
		return fmt.Sprintf("made of tensor %q, asked for %q", k.Output, other.Output)
	case k.Decoder != other.Decoder:
		return fmt.Sprintf("made with %s, asked for %s", decoderText(k.Decoder), decoderText(other.Decoder))
	case k.Preprocessing != other.Preprocessing:
		mine, yours := settingsApart(k.Preprocessing, other.Preprocessing)
		return fmt.Sprintf("made with preprocessing %s, asked for %s", mine, yours)
	case !slices.Equal(k.Views, other.Views):
		return fmt.Sprintf("made with views %v, asked for %v", k.Views, other.Views)
	case k.DType != other.DType:
		return fmt.Sprintf("made of %s numbers, asked for %s", k.Element(), other.Element())
	case k.Images != other.Images:
		return fmt.Sprintf("made from image list %s, asked for %s", short(k.Images), short(other.Images))
	}
	return ""
}

// decoderText returns a key's Decoder for people.
func decoderText(decoder string) string {
	if decoder == "" {
		return "a decoder of an earlier winnow, which did not write it down"
	}
	return "decoder " + strconv.Quote(decoder)
}

// settingsApart leaves only what differs of two texts that are JSON objects; other texts stay as they are.
func settingsApart(a, b string) (string, string) {
	var x, y map[string]any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a, b
	}
	var left, right []string
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if other, ok := y[name]; ok && !reflect.DeepEqual(x[name], other) {
			left = append(left, fmt.Sprintf("%s %v", name, x[name]))
			right = append(right, fmt.Sprintf("%s %v", name, other))
		}
	}
	if len(left) == 0 {
		return a, b
	}
	return strings.Join(left, ", "), strings.Join(right, ", ")
}

// short returns the beginning of a hash, enough to tell two apart by eye.
func short(hash string) string {
	if len(hash) <= 12 {
		return hash
	}
	return hash[:12] + "…"
}

// KeyError is a store, finished or begun, that holds something else than what was asked for.
type KeyError struct {
	Dir string
	Why string // as Key.Differs says it
}

func (e *KeyError) Error() string { return fmt.Sprintf("features: %s: %s", e.Dir, e.Why) }

// DamageError is a store, finished or begun, that cannot be read as what it says it is.
type DamageError struct{ Err error }

func (e *DamageError) Error() string { return e.Err.Error() }

func (e *DamageError) Unwrap() error { return e.Err }

// HashPaths returns the sha256 of an image list as paths.txt holds it: one path a line.
func HashPaths(paths []string) string {
	sum := sha256.New()
	w := bufio.NewWriter(sum)
	_ = writePaths(w, paths) // a sum takes all
	_ = w.Flush()
	return hex.EncodeToString(sum.Sum(nil))
}

// checkPaths refuses lists that no store has.
func checkPaths(paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("features: the image list is empty")
	}
	if i := slices.Index(paths, ""); i >= 0 {
		return fmt.Errorf("features: image %d: its path is empty", i)
	}
	return nil
}
