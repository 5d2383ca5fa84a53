package features

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Key identifies the features in a store. Stores with equal keys hold the same numbers, on the same machine bit for
// bit. Labels are not part of the key, so all noise levels of a dataset share a store.
type Key struct {
	Model         string   `json:"model"`         // sha256 of the ONNX file, hexadecimal
	Output        string   `json:"output"`        // name of the tensor that holds the features
	Preprocessing string   `json:"preprocessing"` // canonical text of size, crop, mean, …
	Views         []string `json:"views"`         // the crops of each image; the first is "center"
	Images        string   `json:"images"`        // [HashPaths] of the image list

	// Decoder names the image decoder and its version, "" in stores written before it was recorded. The same
	// preprocessing with another decoder gives other numbers.
	Decoder string `json:"decoder,omitempty"`

	// DType is Float16 if the numbers are stored as float16, and "" for float32.
	DType string `json:"dtype,omitempty"`
}

// MaxViews limits the number of views per image; a larger number is a mistake.
const MaxViews = 256

// countViews returns the number of views, at least one.
func (k Key) countViews() int { return max(len(k.Views), 1) }

// isPlainKey reports whether the matrix is n×d of float32, which every version of winnow can read.
func (k Key) isPlainKey() bool { return k.countViews() == 1 && k.DType == "" }

// Element returns the type of the stored numbers.
func (k Key) Element() string {
	if k.DType == "" {
		return Float32
	}
	return k.DType
}

// numpyDescr returns numpy's name of the element type.
func (k Key) numpyDescr() string {
	if k.DType == Float16 {
		return "<f2"
	}
	return "<f4"
}

// matrixShape returns the shape of the matrix: n×d or n×views×d. The views of an image are adjacent because they are
// computed together and so that shards can be concatenated; a reader of one view still reads whole vectors.
func (k Key) matrixShape(rows, dim int) []int {
	if k.countViews() == 1 {
		return []int{rows, dim}
	}
	return []int{rows, k.countViews(), dim}
}

// checkKey returns an error if the key is not valid for any store.
func (k Key) checkKey() error {
	if k.DType != "" && k.DType != Float16 {
		return fmt.Errorf(`element type %q, expected %s or "" (%s)`, k.DType, Float16, Float32)
	}
	if len(k.Views) > MaxViews {
		return fmt.Errorf("%d views, expected at most %d", len(k.Views), MaxViews)
	}
	return nil
}

// Differs describes the first difference between k and other, or returns "" if the keys are equal.
func (k Key) Differs(other Key) string {
	for _, part := range []struct {
		what       string
		was, asked any
	}{
		{"model", k.Model, other.Model}, {"tensor", k.Output, other.Output}, {"decoder", k.Decoder, other.Decoder},
		{"preprocessing", k.Preprocessing, other.Preprocessing},
		{"views", fmt.Sprint(k.Views), fmt.Sprint(other.Views)}, {"numbers", k.Element(), other.Element()},
		{"image list", k.Images, other.Images},
	} {
		if part.was != part.asked {
			return fmt.Sprintf("made with %s %v, expected %v", part.what, part.was, part.asked)
		}
	}
	return ""
}

// KeyError is the error for a finished or unfinished store with another key than requested.
type KeyError struct {
	Dir string
	Why string // as returned by Key.Differs
}

func (e *KeyError) Error() string { return fmt.Sprintf("features: %s: %s", e.Dir, e.Why) }

// DamageError is the error for a finished or unfinished store that is damaged.
type DamageError struct{ Err error }

func (e *DamageError) Error() string { return e.Err.Error() }

func (e *DamageError) Unwrap() error { return e.Err }

// HashPaths returns the sha256 of an image list in the format of paths.txt: one path per line.
func HashPaths(paths []string) string {
	sum := sha256.New()
	w := bufio.NewWriter(sum)
	_ = writePaths(w, paths) // a hash accepts everything
	_ = w.Flush()
	return hex.EncodeToString(sum.Sum(nil))
}

// checkPaths returns an error if a list is empty or contains an empty path.
func checkPaths(paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("features: the image list is empty")
	}
	if i := slices.Index(paths, ""); i >= 0 {
		return fmt.Errorf("features: image %d: the path is empty", i)
	}
	return nil
}
