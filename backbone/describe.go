package backbone

import (
	"fmt"
	"strings"
)

// Describe describes in words how an image is prepared.
func (p Preprocessing) Describe() string {
	resize := "no resize"
	switch {
	case p.Resize > 0 && p.Exact:
		resize = fmt.Sprintf("resize to %d×%d (%s)", p.boxHeight(), p.Resize, p.Interpolation)
	case p.Long && p.Height > 0:
		resize = fmt.Sprintf("resize to fit into %d×%d (%s), the rest black", p.boxHeight(), p.Resize, p.Interpolation)
	case p.Long:
		resize = fmt.Sprintf("resize the longer side to %d (%s), the rest black", p.Resize, p.Interpolation)
	case p.Resize > 0 && p.Height > 0:
		resize = fmt.Sprintf("resize to cover %d×%d (%s)", p.boxHeight(), p.Resize, p.Interpolation)
	case p.Resize > 0:
		resize = fmt.Sprintf("resize the shorter side to %d (%s)", p.Resize, p.Interpolation)
	}
	n := p.Planes()
	return fmt.Sprintf("%s, crop %s, %s × %.6g, mean %v, std %v",
		resize, p.SizeText(), p.Channels, p.Scale, p.Mean[:n], p.Std[:n])
}

// Differs lists in words the fields in which p and q differ, or returns "" if both give the network the same input.
func (p Preprocessing) Differs(q Preprocessing) string {
	var what []string
	for _, v := range []struct {
		name string
		same bool
	}{
		{"resize", p.Resize == q.Resize && p.Exact == q.Exact && p.Long == q.Long},
		{"size", p.SizeText() == q.SizeText()},
		{"interpolation", p.Interpolation == q.Interpolation}, {"channels", p.Channels == q.Channels},
		{"scale", p.Scale == q.Scale}, {"mean", p.Mean == q.Mean}, {"std", p.Std == q.Std},
		{"EXIF orientation", p.EXIF == q.EXIF},
	} {
		if !v.same {
			what = append(what, v.name)
		}
	}
	return strings.Join(what, ", ")
}
