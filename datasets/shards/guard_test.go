package shards

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"winnow/internal/testing/memory"
)

type row struct {
	Path  string   `parquet:"path"`
	Class string   `parquet:"class,dict"`
	Score float64  `parquet:"score"`
	Count int64    `parquet:"count,delta"`
	Maybe *string  `parquet:"maybe,optional"`
	Yes   bool     `parquet:"yes"`
	Near  []string `parquet:"near,list"`
}

func made(n int) []row {
	list := make([]row, n)
	for i := range list {
		list[i] = row{Path: fmt.Sprintf("%06d.jpg", i), Class: fmt.Sprint(i % 7), Score: float64(i) / 7,
			Count: int64(i * i), Yes: i%3 == 0, Near: []string{"a", "b"}[:i%3%2]}
		if i%5 == 0 {
			list[i].Maybe = &list[i].Path
		}
	}
	return list
}

func file(t testing.TB, n int, options ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := parquet.Write(&out, made(n), options...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// guarded opens every page of a file.
func guarded(data []byte) (err error) {
	defer recoverBroken(&err)
	src := bytes.NewReader(data)
	f, err := openGuarded(src, int64(len(data)))
	if err != nil {
		return err
	}
	for c := range f.Schema().Columns() {
		for g := range f.RowGroups() {
			places, err := listPlaces(f, src, g, c)
			for _, p := range places {
				if err == nil {
					_, err = p.openPage(f, src, g, c)
				}
			}
			if err != nil {
				return fmt.Errorf("column %d: %w", c, err)
			}
		}
	}
	return nil
}

// Files of ordinary writers are accepted: all compressions, both versions of pages, several row groups.
func TestSound(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd} {
		for _, version := range []int{1, 2} {
			for _, n := range []int{0, 1, 3000} {
				data := file(t, n, parquet.Compression(codec), parquet.DataPageVersion(version),
					parquet.MaxRowsPerRowGroup(1000), parquet.PageBufferSize(4096))
				if err := guarded(data); err != nil {
					t.Errorf("%v, pages of version %d, %d rows: %v", codec, version, n, err)
				}
			}
		}
	}
	if err := guarded(file(t, 10, parquet.Compression(&parquet.Brotli))); err == nil ||
		!strings.Contains(err.Error(), "is compressed with BROTLI") {
		t.Errorf("brotli: %v", err)
	}
}

// single returns a file of one column with one page, whose stated sizes and counts can be false.
func single(t testing.TB, codec format.CompressionCodec, kind format.Type, h format.DataPageHeader, unpacked int32,
	packed []byte) []byte {
	t.Helper()
	marshal := func(v any) []byte {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	page := format.PageHeader{Type: format.DataPage, UncompressedPageSize: unpacked,
		CompressedPageSize: int32(len(packed))}
	page.DataPageHeader.V, page.DataPageHeader.Valid = h, true
	out := append([]byte("PAR1"), marshal(&page)...)
	out = append(out, packed...)
	meta := format.FileMetaData{Version: 1, NumRows: int64(h.NumValues)}
	root, leaf := format.SchemaElement{Name: "root"}, format.SchemaElement{Name: "path"}
	root.NumChildren.V, root.NumChildren.Valid = 1, true
	leaf.Type.V, leaf.Type.Valid = kind, true
	meta.Schema = []format.SchemaElement{root, leaf}
	chunk := format.ColumnChunk{}
	chunk.MetaData = format.ColumnMetaData{Type: kind, Encoding: []format.Encoding{h.Encoding},
		PathInSchema: []string{"path"}, Codec: codec,
		NumValues: int64(h.NumValues), TotalCompressedSize: int64(len(out) - 4),
		TotalUncompressedSize: int64(unpacked), DataPageOffset: 4}
	meta.RowGroups = []format.RowGroup{{Columns: []format.ColumnChunk{chunk}, NumRows: int64(h.NumValues)}}
	footer := marshal(&meta)
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

func zipped(n int) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(make([]byte, n)) // writing to a buffer cannot fail
	_ = w.Close()
	return out.Bytes()
}

func zstded(n int) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(make([]byte, n), nil)
}

// Small files that state large sizes are rejected before much memory is allocated.
func TestBombs(t *testing.T) {
	plain := format.DataPageHeader{NumValues: 10, Encoding: format.Plain}
	many := format.DataPageHeader{NumValues: 1 << 30, Encoding: format.Plain}
	in := func(e format.Encoding) format.DataPageHeader {
		return format.DataPageHeader{NumValues: 10, Encoding: e}
	}
	varints := func(v ...uint64) (b []byte) {
		for _, v := range v {
			b = binary.AppendUvarint(b, v)
		}
		return b
	}
	lists := append([]byte("PAR1\x29\xfc"), varints(1<<31-1)...)
	lists = append(lists, make([]byte, 100)...)
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"values": {single(t, format.Uncompressed, format.Double, many, 80, make([]byte, 80)),
			"states 1073741824 values"},
		"gzip": {single(t, format.Gzip, format.Double, plain, 80, zipped(64<<20)),
			"does not unpack to the stated 80 bytes"},
		"zstd": {single(t, format.Zstd, format.Double, plain, 80, zstded(64<<20)),
			"does not unpack to the stated 80 bytes"},
		"snappy": {single(t, format.Snappy, format.Double, plain, 80, varints(1<<31)),
			"unpacks to 2147483648 bytes, but states 80"},
		"a page": {single(t, format.Snappy, format.Double, plain, 1<<30, varints(1<<30)),
			"states 1073741824 unpacked bytes"},
		"runs": {single(t, format.Uncompressed, format.ByteArray, in(format.RLEDictionary), 8,
			slices.Concat([]byte{1}, varints(1<<30), []byte{0})), "has at least 536870912"},
		"differences": {single(t, format.Uncompressed, format.Int64, in(format.DeltaBinaryPacked), 8,
			varints(128, 4, 1<<30, 0, 0)), "states 1073741824 delta-encoded integers"},
		"lengths": {single(t, format.Uncompressed, format.ByteArray, in(format.DeltaLengthByteArray), 8,
			varints(128, 4, 1<<30, 0, 0)), "states 1073741824 delta-encoded integers"},
		"an unknown encoding": {single(t, format.Uncompressed, format.ByteArray, in(format.DeltaByteArray), 8,
			varints(128, 4, 1<<30, 0, 0)), "has the encoding DELTA_BYTE_ARRAY"},
		"a footer": {append(append([]byte("PAR1"), make([]byte, 50)...), "\xff\xff\xff\xffPAR1"...),
			"has a footer of 4294967295 bytes"},
		"a list in it": {append(binary.LittleEndian.AppendUint32(lists, uint32(len(lists)-4)), "PAR1"...),
			"states a list of 2147483647"},
	} {
		t.Run(what, func(t *testing.T) {
			memory.Check(t, 16<<20, func() {
				if err := guarded(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%d bytes: %v, expected %q in it", len(c.data), err, c.want)
				}
			})
		})
	}
	if err := guarded(single(t, format.Gzip, format.Double, plain, 80, zipped(80))); err != nil {
		t.Errorf("a sound page: %v", err)
	}
}
