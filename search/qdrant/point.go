package qdrant

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"
	client "github.com/qdrant/go-client/qdrant"
)

// idOf returns the version 5 UUID of a path in the namespace of URLs (RFC 9562, section 5.5).
func idOf(path string) uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceURL, []byte(path)) }

// ID returns the text of a point's id.
func ID(path string) string { return idOf(path).String() }

// digest returns a digest of all that is stored of a point: the first half of a sha256, in hex.
func digest(p Point, model string) string {
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

// check refuses points that the server would refuse, or would store and never find.
func (p Point) check(dim int) error {
	if p.Path == "" {
		return fmt.Errorf("qdrant: a point without a path, expected one: it identifies the point")
	}
	if !utf8.ValidString(p.Path) {
		return fmt.Errorf("qdrant: %q: the path is no UTF-8, expected text: a payload holds nothing else", p.Path)
	}
	for name, value := range p.Payload {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return fmt.Errorf("qdrant: %s: field %q of its payload, %.80q, is no UTF-8, expected text", p.Path, name, value)
		}
		if name == PathField || name == ModelField || name == DigestField {
			return fmt.Errorf("qdrant: %s: a field of its payload is named %q, which is taken", p.Path, name)
		}
	}
	if len(p.Vector) != dim {
		return fmt.Errorf("qdrant: %s: %d values, expected %d", p.Path, len(p.Vector), dim)
	}
	zero := true
	for i, v := range p.Vector {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("qdrant: %s: value %d is %v, expected a finite number", p.Path, i, v)
		}
		zero = zero && v == 0
	}
	if zero {
		return fmt.Errorf("qdrant: %s: the vector is all zeros: it has no direction and would be near nothing", p.Path)
	}
	return nil
}

// payload returns all that is stored beside the vector.
func (p Point) payload(model string) map[string]*client.Value {
	fields := map[string]*client.Value{
		PathField:   client.NewValueString(p.Path),
		ModelField:  client.NewValueString(model),
		DigestField: client.NewValueString(digest(p, model)),
	}
	for name, value := range p.Payload {
		fields[name] = client.NewValueString(value)
	}
	return fields
}

// wire returns the point in the client's form.
func (p Point) wire(model string) *client.PointStruct {
	return &client.PointStruct{Id: client.NewIDUUID(ID(p.Path)), Vectors: client.NewVectorsDense(p.Vector), Payload: p.payload(model)}
}
