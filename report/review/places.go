package review

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval/tsne"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/seal"
	"winnow/internal/text"
)

// planeHeader is the header of the file of places. side is the side of the unit square in the units of t-SNE, the same
// in all rows; vectors is a sum of the image's vector, so that the place of another vector is known.
var planeHeader = []string{"path", "x", "y", "side", "vectors"}

var vectorTable = crc64.MakeTable(crc64.ECMA)

// sumOfVector returns a CRC-64 of a vector's bits.
func sumOfVector(row []float32) string {
	data := make([]byte, 0, 4*len(row))
	for _, f := range row {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
	}
	return fmt.Sprintf("%016x", crc64.Checksum(data, vectorTable))
}

// writePlane keeps the places of images in the file. x holds their vectors, rows whose they are.
func (r *Reviewer) writePlane(x blas32.General, rows []int32, at []spot, side float64) error {
	return atomicfile.WriteOwn(r.plane.file, func(w io.Writer) error {
		out := csv.NewWriter(w)
		var sums seal.Rows
		if err := out.Write(append(slices.Clone(planeHeader), seal.RowColumn)); err != nil {
			return err
		}
		digits := func(f float64, bits int) string { return strconv.FormatFloat(f, 'g', -1, bits) }
		for i, image := range rows {
			s := at[image]
			if s.x != s.x {
				continue
			}
			row := []string{
				r.table.getImagePath(image),
				digits(float64(s.x), 32),
				digits(float64(s.y), 32),
				digits(side, 64),
				sumOfVector(vectorAt(x, i)),
			}
			if err := out.Write(append(row, sums.Sum(row))); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	})
}

// keptPlaces are the places of a file.
type keptPlaces struct {
	at      []spot   // of the images of the manifest
	sums    []string // of their vectors
	side    float64
	changed int // rows that are not as they were written
}

// warnChanged returns an error if rows have changed; they are used as they are.
func (k keptPlaces) warnChanged(file string) error {
	if k.changed == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s changed since winnow wrote it, by their checksums: the map shows the file as it is", file,
		text.Plural(k.changed, "row"))
}

// readPlane reads the places of the file.
func (r *Reviewer) readPlane() (k keptPlaces, err error) {
	data, err := regular.ReadFile(r.plane.file, int64(mostAround+8<<10*len(r.table.all)))
	if err != nil {
		return k, err
	}
	in := csv.NewReader(bytes.NewReader(data))
	in.ReuseRecord = true // FieldsPerRecord is that of the header
	head, err := in.Read()
	if known, sum, _ := strings.Cut(strings.Join(head, ","), ","+seal.RowColumn); err != nil ||
		known != strings.Join(planeHeader, ",") || sum != "" {
		return k, fmt.Errorf("found the columns %.80q, expected %s", strings.Join(head, ","),
			strings.Join(planeHeader, ","))
	}
	summed := len(head) > len(planeHeader) // an earlier winnow wrote none
	var sums seal.Rows
	k.at, _ = fitUnitSquare(len(r.table.all), nil, nil)
	k.sums = make([]string, len(k.at))
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return k, nil
		}
		if err != nil {
			return k, err
		}
		if summed && !sums.Fits(record[:len(planeHeader)], strings.Clone(record[len(planeHeader)])) {
			k.changed++
		}
		image, ok := r.table.findImage(record[0])
		if !ok {
			continue // an image that is gone
		}
		x, errX := strconv.ParseFloat(record[1], 32)
		y, errY := strconv.ParseFloat(record[2], 32)
		side, errSide := strconv.ParseFloat(record[3], 64)
		line, _ := in.FieldPos(1)
		if err := errors.Join(errX, errY); err != nil || !(x >= 0 && x <= 1 && y >= 0 && y <= 1) {
			return k, fmt.Errorf("line %d: found the place %.40q, expected numbers from 0 to 1", line,
				record[1]+","+record[2])
		}
		if errSide != nil || !(side > 0) || math.IsInf(side, 0) {
			return k, fmt.Errorf("line %d: found the side %.40q, expected a number above 0", line, record[3])
		}
		k.at[image], k.sums[image], k.side = spot{float32(x), float32(y)}, strings.Clone(record[4]), side
	}
}

// sampled is how many vectors are compared with the sums of a file that has a place for every image.
const sampled = 16

// reusePlaces takes the places of the file. Images without one there, and those with another vector, are placed among
// the others, which stay where they are. It returns byLikeness, or "" if the file is not used.
func (r *Reviewer) reusePlaces(v Vectors) (method string, err error) {
	if r.plane.file == "" {
		return "", nil
	}
	k, err := r.readPlane()
	if err != nil {
		return "", ignoreMissing(err)
	}
	complete, err := r.arePlacesFitting(v, k)
	if err != nil {
		return "", err
	}
	if complete {
		r.plane.takePlaces(byLikeness, k.at, [2]float64{})
		return byLikeness, k.warnChanged(r.plane.file)
	}
	x, rows, err := r.readUnitVectors(v)
	if err != nil {
		return "", err
	}
	points, known, stale := make([]tsne.Point, len(rows)), 0, 0
	for i, image := range rows {
		s := k.at[image]
		if s.x == s.x && k.sums[image] != sumOfVector(vectorAt(x, i)) {
			k.at[image], s, stale = nowhere, nowhere, stale+1
		}
		if s.x == s.x {
			known++
		}
		points[i] = tsne.Point{X: float64(s.x) * k.side, Y: float64(s.y) * k.side}
	}
	switch {
	case known < fewestPoints || 2*known < len(rows):
		if stale > known {
			return "", errors.New("its places are of other vectors")
		}
		return "", fmt.Errorf("it has places of %d of %d images", known, len(rows))
	case known == len(rows):
		r.plane.takePlaces(byLikeness, k.at, [2]float64{})
		return byLikeness, k.warnChanged(r.plane.file)
	}
	if err := tsne.Place(r.ending, x, points, tsne.Options{}); err != nil {
		return "", err
	}
	for i, image := range rows {
		if k.at[image].x != k.at[image].x {
			inside := func(v float64) float32 { return float32(min(1, max(0, v/k.side))) }
			k.at[image] = spot{inside(points[i].X), inside(points[i].Y)}
		}
	}
	r.plane.takePlaces(byLikeness, k.at, [2]float64{})
	if err := k.warnChanged(r.plane.file); err != nil { // the file stays as it is, so that this is told again
		return byLikeness, err
	}
	return byLikeness, r.writePlane(x, rows, k.at, k.side)
}

// arePlacesFitting reports whether every image has a place, and some of them the vectors of these places.
func (r *Reviewer) arePlacesFitting(v Vectors, k keptPlaces) (bool, error) {
	var paths, sums []string
	for i := range min(sampled, len(k.at)) {
		image := i * len(k.at) / min(sampled, len(k.at))
		paths, sums = append(paths, r.table.getImagePath(int32(image))), append(sums, k.sums[image])
	}
	for _, sum := range k.sums {
		if sum == "" {
			return false, nil
		}
	}
	x, rows, err := r.vectorsOf(v, paths)
	if err != nil || len(rows) < len(paths) {
		return false, err
	}
	for i, at := range rows {
		if sumOfVector(vectorAt(x, i)) != sums[at] {
			return false, nil
		}
	}
	return true, nil
}
