package backbone

// turnHue adds shift to the hue of every pixel. Like PIL it converts to HSV with one byte per channel, so that
// saturation is rounded as well.
func turnHue(r, g, b []byte, shift uint8) {
	g, b = g[:len(r)], b[:len(r)]
	for i := range r {
		h, s, v := toHSV(r[i], g[i], b[i])
		r[i], g[i], b[i] = fromHSV(h+shift, s, v)
	}
}

// toHSV converts RGB to HSV as PIL does: hue and saturation are truncated to 255ths, and single and double precision
// are mixed in PIL's way.
func toHSV(r, g, b byte) (h, s, v byte) {
	v = max(r, g, b)
	least := min(r, g, b)
	if v == least {
		return 0, 0, v
	}
	span := float32(v - least)
	var at float32 // position on the colour circle, in sixths
	switch v {
	case r:
		at = float32(v-b)/span - float32(v-g)/span
	case g:
		at = float32(2 + float64(float32(v-r)/span) - float64(float32(v-b)/span))
	default:
		at = float32(4 + float64(float32(v-g)/span) - float64(float32(v-r)/span))
	}
	turn := float64(at)/6 + 1
	if turn >= 1 {
		turn--
	}
	return uint8(float64(float32(turn)) * 255), uint8(float64(span/float32(v)) * 255), v
}

// hues holds lookup tables for fromHSV, indexed by a byte: for a hue, the sixth of the circle and the position within
// the sixth; for a saturation, its share of 255.
type hues struct {
	sixth [256]uint8
	along [256]float64
	share [256]float64
}

var hueTable = newHues()

func newHues() *hues {
	t := new(hues)
	for i := range t.sixth {
		at := float64(i) * 6 / 255
		sixth := int(at)
		t.sixth[i], t.along[i] = uint8(sixth%6), float64(float32(at-float64(sixth)))
		t.share[i] = float64(float32(i) / 255)
	}
	return t
}

// fromHSV converts HSV to RGB with PIL's rounding.
func fromHSV(h, s, v byte) (r, g, b byte) {
	if s == 0 {
		return v, v, v
	}
	f, fs, fv := hueTable.along[h], hueTable.share[s], float64(v)
	part := func(share float64) uint8 { return uint8(float64(fv*(1-float64(share))) + 0.5) }
	p, q, t := part(fs), part(fs*f), part(fs*(1-f))
	switch hueTable.sixth[h] {
	case 0:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	}
	return v, p, q
}
