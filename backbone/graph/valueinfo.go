package graph

import (
	"strconv"
	"strings"
)

// Dim is one size of a shape: fixed, or free with Size -1 and an optional name ("N"). Two free sizes with the same
// name are equal.
type Dim struct {
	Size int64
	Name string
}

// Fixed returns a known size.
func Fixed(n int64) Dim { return Dim{Size: n} }

// Free returns a size that is known only at run time; name may be "".
func Free(name string) Dim { return Dim{Size: -1, Name: name} }

// Known reports whether the size is fixed.
func (d Dim) Known() bool { return d.Size >= 0 }

// isSameSize reports whether two sizes are certainly equal.
func (d Dim) isSameSize(e Dim) bool {
	return d.Known() && d.Size == e.Size || !d.Known() && !e.Known() && d.Name != "" && d.Name == e.Name
}

// String returns the size, the name of a free size, or "?".
func (d Dim) String() string {
	switch {
	case d.Known():
		return strconv.FormatInt(d.Size, 10)
	case d.Name != "":
		return d.Name
	}
	return "?"
}

// Shape lists the sizes of a tensor. It is nil if the rank is unknown, and empty for a scalar.
type Shape []Dim

// ShapeOf returns a shape of fixed sizes; -1 gives a free size.
func ShapeOf(sizes ...int64) Shape {
	s := make(Shape, len(sizes))
	for i, n := range sizes {
		s[i] = Dim{Size: max(n, -1)}
	}
	return s
}

// String returns the shape in the usual notation, [N,3,224,224], or "?" if the rank is unknown.
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

// ValueInfo describes an input, an output or an intermediate tensor. Type 0 means that the value is not a tensor (but
// a sequence or map), or that its type is not declared.
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
