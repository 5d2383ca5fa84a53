package seal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type record struct {
	Name  string         `json:"name"`
	Sizes map[string]int `json:"sizes"`
	Later float64        `json:"later,omitempty"`
}

// Every flipped bit of a sealed object is found.
func TestEveryBit(t *testing.T) {
	want := record{"a <b> & c", map[string]int{"x": 1, "y": -7}, 0.25}
	data, err := Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got record
	if err := Unmarshal(data, &got); err != nil || cmp.Diff(want, got) != "" {
		t.Fatalf("%v\n%s", err, cmp.Diff(want, got))
	}
	for bit := range 8 * len(data) {
		data[bit/8] ^= 1 << (bit % 8)
		if err := Unmarshal(data, new(record)); err == nil {
			t.Errorf("byte %d, bit %d: nothing was noticed in %q", bit/8, bit%8, data)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
	for n := range data {
		if err := Unmarshal(data[:n], new(record)); err == nil {
			t.Errorf("cut after %d bytes: nothing was noticed", n)
		}
	}
}

// An object without a seal is read if it has no unknown field. A sealed object may have unknown fields.
func TestWithoutSeal(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "a"}`:                         "",
		"{\"name\": \"a\"}\n":                   "",
		`{"name": "a", "size": 1}`:              "unknown field",
		`{"name": "a", "checksum": "0"}`:        "unknown field",
		`{"name": "a"} {}`:                      "found more",
		``:                                      "cut short",
		`{"name": "a`:                           "cut short",
		"{,\n  \"checksum\": \"00000000\"\n}\n": "does not fit",
	} {
		err := Unmarshal([]byte(text), new(record))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, expected %q", text, err, want)
		}
	}
	data, err := Marshal(struct {
		record
		More int `json:"more"`
	}{record{Name: "a"}, 3})
	if err == nil {
		err = Unmarshal(data, new(record))
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := Marshal([]int{1}); err == nil {
		t.Error("sealed a list")
	}
}
