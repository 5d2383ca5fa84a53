package page

import (
	"fmt"
	"math"
	"strings"
)

// few are colours for a white background that people with colour-vision deficiencies can distinguish: Paul Tol's scheme
// "muted" and black; its grey marks points without a group. fewDark are ten colours for a dark background. A search
// selected them to stay far apart under three simulated dichromacies, at a contrast of at least 3.2:1.
var (
	few = [...]string{"#332288", "#88ccee", "#44aa99", "#117733", "#999933",
		"#ddcc77", "#cc6677", "#882255", "#aa4499", "#111111"}
	fewDark = [...]string{"#9c28ff", "#58d5af", "#38a1a9", "#476fa4", "#ac9313",
		"#9fff8f", "#ff69ff", "#aa574b", "#bfc600", "#ffffff"}
)

const grey = "#9a9a9a"

// pair holds the colours of two groups: the group of interest and the rest.
var pair = []string{"#d65400", "#1e6ebe"}

// Colours returns the colours of n groups for a light and a dark background. More than ten groups get hues at equal
// distances on the colour circle; neighbouring hues differ in lightness, and consecutive groups get distant hues.
func Colours(n int) (light, dark []string) {
	if n == len(pair) {
		return pair, pair
	}
	if n <= len(few) {
		return few[:n], fewDark[:n]
	}
	step := int(0.382 * float64(n)) // about the golden angle, as a number of places
	for computeGCD(step, n) > 1 {
		step--
	}
	for i := range n {
		place := i * step % n
		level := place % 3
		if place == n-1 && level == 0 { // next to place 0
			level = 1
		}
		hue, up := 30+360*float64(place)/float64(n), 0.14*float64(level)
		light = append(light, oklch(0.42+up, 0.14, hue))
		dark = append(dark, oklch(0.58+up, 0.14, hue))
	}
	return light, dark
}

func computeGCD(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// oklch converts a lightness, a chroma and a hue in degrees to a hexadecimal sRGB colour, clipped to the sRGB range.
// Source: Ottosson, A perceptual color space for image processing (2020).
func oklch(lightness, chroma, hue float64) string {
	a, b := chroma*math.Cos(hue*math.Pi/180), chroma*math.Sin(hue*math.Pi/180)
	l := cube(lightness + 0.3963377774*a + 0.2158037573*b)
	m := cube(lightness - 0.1055613458*a - 0.0638541728*b)
	s := cube(lightness - 0.0894841775*a - 1.2914855480*b)
	var out strings.Builder
	out.WriteByte('#')
	for _, v := range []float64{
		4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s,
	} {
		v = min(max(v, 0), 1)
		if v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		fmt.Fprintf(&out, "%02x", int(math.Round(255*v)))
	}
	return out.String()
}

func cube(v float64) float64 { return v * v * v }
