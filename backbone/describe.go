package backbone

import "fmt"

// Describe says in words how an image is prepared.
func (p Preprocessing) Describe() string {
	resize := "no resize"
	switch {
	case p.Resize > 0 && p.Exact:
		resize = fmt.Sprintf("resize to %d×%d (%s)", p.box(), p.Resize, p.Interpolation)
	case p.Long && p.Height > 0:
		resize = fmt.Sprintf("resize to fit into %d×%d (%s), the rest black", p.box(), p.Resize, p.Interpolation)
	case p.Long:
		resize = fmt.Sprintf("resize the longer side to %d (%s), the rest black", p.Resize, p.Interpolation)
	case p.Resize > 0 && p.Height > 0:
		resize = fmt.Sprintf("resize to cover %d×%d (%s)", p.box(), p.Resize, p.Interpolation)
	case p.Resize > 0:
		resize = fmt.Sprintf("resize the shorter side to %d (%s)", p.Resize, p.Interpolation)
	}
	n := p.Planes()
	text := fmt.Sprintf("%s, crop %s, %s × %.6g, mean %v, std %v",
		resize, p.SizeText(), p.Channels, p.Scale, p.Mean[:n], p.Std[:n])
	if p.Decoder != "" {
		text += ", decoder " + p.Decoder
	}
	return text
}
