package vectorfile

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

func sample(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{Path: string(rune('a'+i%26)) + "/x,y.png", Label: "cls", Split: "train",
			Embedding: []float32{float32(i) / 3, -math.MaxFloat32, 1e-40}}
	}
	return rows
}

func TestParquetRoundTrip(t *testing.T) {
	want := sample(5000) // more than one group
	var out bytes.Buffer
	if err := writeAll(newParquet(&out), want); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[Row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCSV(t *testing.T) {
	var out bytes.Buffer
	to, err := newCSV(&out, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeAll(to, sample(2)); err != nil {
		t.Fatal(err)
	}
	want := "path,label,split,e0,e1,e2\n\"a/x,y.png\",cls,train,0,-3.4028235e+38,1e-40\n" +
		"\"b/x,y.png\",cls,train,0.33333334,-3.4028235e+38,1e-40\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
