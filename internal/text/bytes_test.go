package text

import (
	"strings"
	"testing"
)

func TestBytes(t *testing.T) {
	for given, want := range map[string]Bytes{"2 GiB": 2 << 30, "512 MiB": 512 << 20, "3 KiB": 3 << 10, "0": 0,
		"1.5GiB": 1536 << 20, "200000000": 200000000,
		"200 MB": 200000000, "7 B": 7, "1 TiB": 1 << 40, "1 kB": 1000, "2 TB": 2e12, "1GB": 1e9} {
		var b, again Bytes
		if err := b.UnmarshalText([]byte(given)); err != nil || b != want {
			t.Errorf("%s: %d bytes, %v, expected %d", given, b, err, want)
		}
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != want {
			t.Errorf("%s is written as %s and read back as %d, %v", given, b, again, err)
		}
	}
	for bytes, want := range map[Bytes]string{2 << 30: "2 GiB", 1536 << 20: "1536 MiB", 0: "0", 1025: "1025 B"} {
		if bytes.String() != want {
			t.Errorf("%d is written as %s, expected %s", int64(bytes), bytes, want)
		}
	}
	for _, given := range []string{"", "GiB", "-1 GiB", "NaN B", "1 PiB", "2 gigabytes", "1e300", "0.2", "1e19 B",
		"Inf"} {
		if err := new(Bytes).UnmarshalText([]byte(given)); err == nil ||
			!strings.Contains(err.Error(), `expected for example "2 GiB"`) {
			t.Errorf("%q: %v", given, err)
		}
	}
}
