package datasets

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// Drawing classes evenly is advised, in one line, if the sizes of train's classes differ widely and other splits
// have these classes.
func TestUneven(t *testing.T) {
	falling := func(most, least int) (sizes []int) { // in equal steps
		for i := range 20 {
			sizes = append(sizes, most-(most-least)*i/19)
		}
		return sizes
	}
	outlier := append([]int{500, 1}, falling(8, 6)...)
	for _, c := range []struct {
		name  string
		sizes []int
		known bool
		want  string
	}{
		{"uneven and looked for", falling(60, 1), true, "train classes have 8 to 54 images (10th to 90th " +
			"percentile), and 20 of them are in other splits too: winnow train --set sampler.balance=0"},
		{"uneven, other classes looked for", falling(60, 1), false, ""},
		{"even", falling(30, 20), true, ""},
		{"two classes stand out", outlier, true, ""},
		{"one class", []int{9}, true, ""},
	} {
		d := &Dataset{}
		for class, n := range c.sizes {
			d.Classes = append(d.Classes, fmt.Sprint("c", class), fmt.Sprint("other", class))
			for i := range n {
				d.Samples = append(d.Samples, Sample{Path: fmt.Sprint(class, "/", i), Label: 2 * class, Split: Train})
			}
			looked := 2*class + 1
			if c.known {
				looked = 2 * class
			}
			d.Samples = append(d.Samples, Sample{Path: fmt.Sprint(class, "/test"), Label: looked, Split: Test})
		}
		report, err := checked(t.Context(), d,
			func(path string) ([sha256.Size]byte, error) { return sha256.Sum256([]byte(path)), nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		report.Write(&out, d, 5)
		if n := strings.Count(out.String(), "sampler.balance"); c.want == "" && n != 0 || c.want != "" &&
			(n != 1 || !strings.Contains(out.String(), c.want)) {
			t.Errorf("%s:\n%s", c.name, out.String())
		}
	}
}
