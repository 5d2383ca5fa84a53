package pgvector

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// extension describes a database's pgvector.
type extension struct {
	version string
	schema  string // quoted: it need not be in the search path
}

// registerVector teaches a connection pgvector's vector type.
func registerVector(ctx context.Context, conn *pgx.Conn) (e extension, err error) {
	var one, list uint32
	var schema string
	err = conn.QueryRow(ctx, `SELECT e.extversion, n.nspname, t.oid, t.typarray
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		JOIN pg_type t ON t.typnamespace = n.oid AND t.typname = 'vector' WHERE e.extname = 'vector'`,
	).Scan(&e.version, &schema, &one, &list)
	if errors.Is(err, pgx.ErrNoRows) {
		none := &NoExtension{}
		if err := conn.QueryRow(ctx,
			`SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')`,
		).Scan(&none.Installed); err != nil {
			return e, err
		}
		return e, none
	}
	if err != nil {
		return e, err
	}
	if isOlder(e.version, oldest) {
		return e, &NoExtension{Found: e.version}
	}
	e.schema = pgx.Identifier{schema}.Sanitize()
	t := &pgtype.Type{Name: "vector", OID: one, Codec: codec{}}
	conn.TypeMap().RegisterType(t)
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "_vector", OID: list, Codec: &pgtype.ArrayCodec{ElementType: t}})
	return e, nil
}

// isOlder compares versions number by number.
func isOlder(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range min(len(a), len(b)) {
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return len(a) < len(b)
}

// vector is a vector to be sent or received.
type vector []float32

// codec encodes vectors in pgvector's binary form: the number of values and a zero, 16 bits each, then the values,
// big-endian.
type codec struct{}

// FormatSupported implements pgtype.Codec.
func (codec) FormatSupported(format int16) bool { return format == pgtype.BinaryFormatCode }

// PreferredFormat implements pgtype.Codec.
func (codec) PreferredFormat() int16 { return pgtype.BinaryFormatCode }

// PlanEncode implements pgtype.Codec.
func (codec) PlanEncode(_ *pgtype.Map, _ uint32, format int16, value any) pgtype.EncodePlan {
	if _, is := value.(vector); !is || format != pgtype.BinaryFormatCode {
		return nil
	}
	return codec{}
}

// Encode implements pgtype.EncodePlan.
func (codec) Encode(value any, buf []byte) ([]byte, error) {
	v := value.(vector)
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(v)))
	buf = binary.BigEndian.AppendUint16(buf, 0)
	for _, x := range v {
		buf = binary.BigEndian.AppendUint32(buf, math.Float32bits(x))
	}
	return buf, nil
}

// PlanScan implements pgtype.Codec.
func (codec) PlanScan(_ *pgtype.Map, _ uint32, format int16, target any) pgtype.ScanPlan {
	if _, is := target.(*vector); !is || format != pgtype.BinaryFormatCode {
		return nil
	}
	return codec{}
}

// Scan implements pgtype.ScanPlan.
func (codec) Scan(src []byte, target any) error {
	if len(src) < 4 || len(src) != 4+4*int(binary.BigEndian.Uint16(src)) {
		return fmt.Errorf("found a vector of %d bytes, expected 4 plus 4 per value", len(src))
	}
	v := make(vector, (len(src)-4)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.BigEndian.Uint32(src[4+4*i:]))
	}
	*target.(*vector) = v
	return nil
}

// DecodeDatabaseSQLValue implements pgtype.Codec.
func (codec) DecodeDatabaseSQLValue(*pgtype.Map, uint32, int16, []byte) (driver.Value, error) {
	return nil, errors.ErrUnsupported
}

// DecodeValue implements pgtype.Codec.
func (c codec) DecodeValue(_ *pgtype.Map, _ uint32, _ int16, src []byte) (any, error) {
	var v vector
	err := c.Scan(src, &v)
	return v, err
}
