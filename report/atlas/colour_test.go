package atlas

import (
	"fmt"
	"math"
	"testing"
)

// The colours of up to 30 groups are far enough apart in OKLab to tell them; hues a golden angle apart would be .045 at
// 20.
func TestColoursDiffer(t *testing.T) {
	for n := 3; n <= 30; n++ {
		least := 0.075
		if n > 20 {
			least = 0.045
		}
		light, dark := Colours(n)
		for _, list := range [][]string{light, dark} {
			if len(list) != n {
				t.Fatalf("%d colours of %d groups", len(list), n)
			}
			for i := range list {
				for j := range i {
					if d := distance(lab(list[i]), lab(list[j])); d < least {
						t.Errorf("%d groups: %s and %s (%d, %d) are %.3f apart, "+
							"expected %.2f", n, list[i], list[j], j, i, d,
							least)
					}
				}
			}
		}
	}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// lab returns a colour in OKLab.
func lab(text string) [3]float64 {
	var c [3]int
	fmt.Sscanf(text, "#%02x%02x%02x", &c[0], &c[1], &c[2])
	var v [3]float64
	for i, x := range c {
		v[i] = float64(x) / 255
		if v[i] <= 0.04045 {
			v[i] /= 12.92
		} else {
			v[i] = math.Pow((v[i]+0.055)/1.055, 2.4)
		}
	}
	l := math.Cbrt(0.4122214708*v[0] + 0.5363325363*v[1] + 0.0514459929*v[2])
	m := math.Cbrt(0.2119034982*v[0] + 0.6806995451*v[1] + 0.1073969566*v[2])
	s := math.Cbrt(0.0883024619*v[0] + 0.2817188376*v[1] + 0.6299787005*v[2])
	return [3]float64{0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s, 0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}
