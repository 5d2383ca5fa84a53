package pgvector

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Digest returns a digest of everything stored for a point: the first half of a sha256, in hex.
func Digest(p Point, model string) string {
	h := sha256.New()
	text := func(s string) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	text(model)
	text(p.Path)
	for _, name := range slices.Sorted(maps.Keys(p.Payload)) {
		text(name)
		text(p.Payload[name])
	}
	b := make([]byte, 0, 4*len(p.Vector))
	for _, v := range p.Vector {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// storedPoint returns a point with the fields that winnow adds.
func (p Point) storedPoint(model string) Stored { return Stored{p, model, Digest(p, model)} }

// storedFields returns everything stored next to the vector.
func (p Stored) storedFields() map[string]string {
	all := map[string]string{PathField: p.Path, ModelField: p.Model, DigestField: p.Digest}
	maps.Copy(all, p.Payload)
	return all
}

// checkPoint rejects points that a server would reject, or would store but never find.
func (p Point) checkPoint(dim int) error {
	if p.Path == "" {
		return fmt.Errorf("pgvector: a point without a path, expected one: it identifies the point")
	}
	if !isText(p.Path) {
		return fmt.Errorf("pgvector: %q: the path is not UTF-8 text, which a database requires", p.Path)
	}
	for name, value := range p.Payload {
		if !isText(name) || !isText(value) {
			return fmt.Errorf("pgvector: %s: field %q of its payload, %.80q, is not UTF-8 text", p.Path, name, value)
		}
		if name == PathField || name == ModelField || name == DigestField {
			return fmt.Errorf("pgvector: %s: a field of its payload is named %q, which is taken", p.Path, name)
		}
	}
	if len(p.Vector) != dim {
		return fmt.Errorf("pgvector: %s: %d values, expected %d", p.Path, len(p.Vector), dim)
	}
	zero := true
	for i, v := range p.Vector {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("pgvector: %s: value %d is %v, expected a finite number", p.Path, i, v)
		}
		zero = zero && v == 0
	}
	if zero {
		return fmt.Errorf("pgvector: %s: the vector is all zeros: it has no direction and would be near nothing",
			p.Path)
	}
	return nil
}

// isText reports whether databases accept a string as text. PostgreSQL rejects NUL.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
