package features

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Key says which features a store holds. Two stores with equal keys hold the same numbers (on the same
// machine, to the bit); labels are no part of it, so every noise level of a dataset shares one store.
type Key struct {
	Model         string   `json:"model"`         // sha256 of the ONNX file, hexadecimal
	Output        string   `json:"output"`        // name of the tensor the features are
	Preprocessing string   `json:"preprocessing"` // canonical text of size, crop, mean, …
	Views         []string `json:"views"`         // the pictures made of each image: "center"
	Images        string   `json:"images"`        // HashPaths of the image list
}

// Differs says in words which part of other is not that of k, or "" where the keys are equal.
func (k Key) Differs(other Key) string {
	switch {
	case k.Model != other.Model:
		return fmt.Sprintf("made with model %s, asked for %s", short(k.Model), short(other.Model))
	case k.Output != other.Output:
		return fmt.Sprintf("made of tensor %q, asked for %q", k.Output, other.Output)
	case k.Preprocessing != other.Preprocessing:
		mine, yours := settingsApart(k.Preprocessing, other.Preprocessing)
		return fmt.Sprintf("made with preprocessing %s, asked for %s", mine, yours)
	case !slices.Equal(k.Views, other.Views):
		return fmt.Sprintf("made with views %v, asked for %v", k.Views, other.Views)
	case k.Images != other.Images:
		return fmt.Sprintf("made from image list %s, asked for %s", short(k.Images), short(other.Images))
	}
	return ""
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

// short is the beginning of a hash, enough to tell two apart by eye.
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

// HashPaths is the sha256 of an image list as paths.txt holds it: one path a line.
func HashPaths(paths []string) string {
	h := sha256.New()
	for _, p := range paths {
		io.WriteString(h, p)
		io.WriteString(h, "\n")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkPaths refuses what paths.txt cannot hold.
func checkPaths(paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("features: the image list is empty")
	}
	for i, p := range paths {
		if p == "" || strings.ContainsAny(p, "\r\n") {
			return fmt.Errorf("features: image %d: path %q, expected one line of text", i, p)
		}
	}
	return nil
}
