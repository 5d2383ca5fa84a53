package text

import (
	"fmt"
	"strconv"
	"strings"
)

// Bytes is a size of memory or disk, written as "2 GiB", "512 MiB", "200 MB", "4096", or "0".
type Bytes int64

// byteUnits lists the units in the order in which they are tried: "B" follows the units that end in "B".
var byteUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"TB", 1e12}, {"B", 1}, {"", 1}}

// maxBytes limits sizes to integers that a float64 represents exactly.
const maxBytes = 1 << 53

// UnmarshalText reads a size, rounded down to bytes.
func (b *Bytes) UnmarshalText(given []byte) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(strings.TrimSpace(string(given)), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err == nil && (n == 0 || n*u.bytes >= 1 && n*u.bytes < maxBytes) {
			*b = Bytes(n * u.bytes)
			return nil
		}
		break
	}
	return fmt.Errorf("found %q, expected for example \"2 GiB\" or \"512 MiB\", or 0", given)
}

// String returns the exact size, as written to files.
func (b Bytes) String() string {
	if b == 0 {
		return "0"
	}
	text := fmt.Sprintf("%d B", int64(b))
	for _, u := range byteUnits[:4] {
		if unit := int64(u.bytes); int64(b)%unit == 0 {
			text = fmt.Sprintf("%d %s", int64(b)/unit, u.name)
		}
	}
	return text
}

// MarshalText writes a size.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Approx returns the size for display, rounded to a tenth of its unit.
func (b Bytes) Approx() string { return Approx(int64(b)) }
