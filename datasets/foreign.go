package datasets

import (
	"bytes"
	"fmt"
)

// magics are the first bytes of files that people have next to a manifest.
var magics = []struct {
	at   int
	text string
	what string
}{
	{257, "ustar", "a tar archive"},
	{0, "PK\x03\x04", "a zip archive"},
	{0, "\x1f\x8b", "compressed by gzip"},
	{0, "\x28\xb5\x2f\xfd", "compressed by zstd"},
	{0, "\xfd7zXZ", "compressed by xz"},
	{0, "BZh", "compressed by bzip2"},
	{0, "7z\xbc\xaf", "a 7z archive"},
	{0, "PAR1", "a Parquet file"},
	{0, "ARROW1", "an Arrow file"},
	{0, "SQLite format 3\x00", "an SQLite database"},
	{0, "\x89HDF", "an HDF5 file"},
	{0, "\x93NUMPY", "a NumPy array"},
	{0, "MATLAB 5.0 MAT-file", "a MATLAB file"},
	{0, "\x89PNG", "a PNG image"},
	{0, "\xff\xd8\xff", "a JPEG image"},
	{0, "GIF8", "a GIF image"},
	{0, "%PDF", "a PDF document"},
}

// foreign returns an error that names the file type if head is not the start of a text.
func foreign(head []byte) error {
	const expected = "expected a manifest (CSV, JSON lines or a list path,label) in UTF-8, or a folder of images"
	for _, m := range magics {
		if len(head) > m.at && bytes.HasPrefix(head[m.at:], []byte(m.text)) {
			return fmt.Errorf("is %s, %s", m.what, expected)
		}
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return fmt.Errorf("is not text (byte %d is 0), %s", at+1, expected)
	}
	return nil
}
