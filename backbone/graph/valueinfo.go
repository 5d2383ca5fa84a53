package graph

import (
	"strconv"
	"strings"
)

// Dim is one size of a shape: fixed, or free with Size -1 and perhaps a name ("N"). Two free sizes with the
// same name are equal.
type Dim struct {
	Size int64
	Name string
}

// Fixed returns a known size.
func Fixed(n int64) Dim { return Dim{Size: n} }

// Free returns a size that is only known at run time; name may be "".
func Free(name string) Dim { return Dim{Size: -1, Name: name} }

// Known reports whether the size is fixed.
func (d Dim) Known() bool { return d.Size >= 0 }

// isSameSize reports whether two sizes are certainly equal.
func (d Dim) isSameSize(e Dim) bool {
	return d.Known() && d.Size == e.Size || !d.Known() && !e.Known() && d.Name != "" && d.Name == e.Name
}

// String returns the size, the name of a free one, or "?".
func (d Dim) String() string {
	switch {
	case d.Known():
		return strconv.FormatInt(d.Size, 10)
	case d.Name != "":
		return d.Name
	}
	return "?"
}

// Shape lists the sizes of a tensor: nil if even their number is unknown, empty for a scalar.
type Shape []Dim

// ShapeOf returns a shape of fixed sizes; -1 is a free one.
func ShapeOf(sizes ...int64) Shape {
	s := make(Shape, len(sizes))
	for i, n := range sizes {
		s[i] = Dim{Size: max(n, -1)}
	}
	return s
}

// String returns the shape in the usual notation, [N,3,224,224], or "?" if nothing is known.
func (s Shape) String() string {
	if s == nil {
		return "?"
	}
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = d.String()
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// ValueInfo describes a tensor: an input, an output, or an intermediate one. Type 0 is a value that is not a
// tensor (a sequence, a map), or whose type is not stated.
type ValueInfo struct {
	Name  string
	Type  DataType
	Shape Shape

	rest, typeRest []byte
}

// String returns name, type and shape: "data" float32 [N,3,224,224].
func (v *ValueInfo) String() string {
	return strconv.Quote(v.Name) + " " + v.Type.String() + " " + v.Shape.String()
}

// findValueInfo returns the value info with that name, or nil.
func findValueInfo(list []*ValueInfo, name string) *ValueInfo {
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	return nil
}
