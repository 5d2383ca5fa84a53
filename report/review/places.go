package review

import (
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
)

// planeHeader is the header of the file of places. The last column marks the vectors that they are of.
var planeHeader = []string{"path", "x", "y", "vectors"}

// markOf returns a mark of the vectors of some images, which differs for other vectors.
func (r *Reviewer) markOf(v Vectors, at []spot) (string, error) {
	const some = 16
	var paths []string
	for image, s := range at {
		if len(paths) < some && s.x == s.x {
			paths = append(paths, r.table.path(int32(image)))
		}
	}
	select {
	case r.searches.turn <- struct{}{}:
		defer func() { <-r.searches.turn }()
	case <-r.ending.Done():
		return "", r.ending.Err()
	}
	x, _, err := v.Rows(paths)
	if err != nil {
		return "", err
	}
	data := make([]byte, 0, 4*len(x.Data))
	for _, f := range x.Data {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
	}
	return fmt.Sprintf("%016x", crc64.Checksum(data, crc64.MakeTable(crc64.ECMA))), nil
}

// writePlane keeps the places in the file.
func (r *Reviewer) writePlane(v Vectors, at []spot) error {
	mark, err := r.markOf(v, at)
	if err != nil {
		return err
	}
	return atomicfile.Write(r.plane.file, func(w io.Writer) error {
		out := csv.NewWriter(w)
		lines := [][]string{planeHeader}
		text := func(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }
		for image, s := range at {
			if s.x == s.x {
				lines = append(lines, []string{r.table.path(int32(image)), text(s.x), text(s.y), mark})
			}
		}
		return out.WriteAll(lines)
	})
}

// readPlane reads the places of the file. Images that are not in the file have none; if these are many, or the places
// are of other vectors, it returns an error.
func (r *Reviewer) readPlane(v Vectors) ([]spot, error) {
	f, err := os.Open(r.plane.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.FieldsPerRecord, in.ReuseRecord = len(planeHeader), true
	if head, err := in.Read(); err != nil || strings.Join(head, ",") != strings.Join(planeHeader, ",") {
		return nil, fmt.Errorf("found the columns %.80q, expected %s", strings.Join(head, ","),
			strings.Join(planeHeader, ","))
	}
	at, mark, known := squared(len(r.table.all), nil, nil), "", 0
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		image, ok := r.table.find(record[0])
		if !ok {
			continue // an image that is gone
		}
		x, errX := strconv.ParseFloat(record[1], 32)
		y, errY := strconv.ParseFloat(record[2], 32)
		if err := errors.Join(errX, errY); err != nil || !(x >= 0 && x <= 1 && y >= 0 && y <= 1) {
			line, _ := in.FieldPos(1)
			return nil, fmt.Errorf("line %d: found the place %.40q, expected numbers from 0 to 1", line,
				record[1]+","+record[2])
		}
		at[image], known = spot{float32(x), float32(y)}, known+1
		mark = strings.Clone(record[3])
	}
	if known < len(at)/2 {
		return nil, fmt.Errorf("it has places of %d of %d images", known, len(at))
	}
	if now, err := r.markOf(v, at); err != nil || now != mark {
		return nil, errors.Join(err, errors.New("its places are of other vectors"))
	}
	return at, nil
}
